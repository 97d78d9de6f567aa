/* An FMU for co-simulation, FMI 2.0 and 3.0, over haugmbd.h: the model is resources/model.haug, this library is the same for all models.
 *
 * advance to t + H     n = H / h whole:  n steps of h, as `simulate` makes them       else:  the least number of equal steps, each within h
 * derivative along s   outputs are affine in the inputs at a state:  (y(u + c s) - y(u - c s)) / 2c, exact for any c, rounding least for a large one
 * a parameter p        numbers of the model that follow from it:  a_k + sum over j of b_kj p_j, and of the start before it is closed
 *
 * model.haug has one section more, "FMU     ", of 8-byte words:
 *     version, variables, parameters, numbers, last time [s], closes (0 or 1), size of the mechanism [m], offsets of texts: token, why it ends
 *     for each variable     kind, item or parameter, least and largest value            the value reference is its row
 *     for each parameter    its value
 *     for each number       kind (0 item, 1 of the start), item or place, a, b for each parameter
 *     texts, each ended by 0
 * Types and functions are those of the FMI Standard, 2.0 and 3.0 (Modelica Association, CC BY-SA, headers BSD-2-Clause), written anew here.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include "haugmbd.h"

#if defined(_WIN32)
__declspec(dllimport) int __stdcall MultiByteToWideChar(unsigned, unsigned long, const char *, int, wchar_t *, int);
enum { UTF8 = 65001 };
#define PUBLIC __declspec(dllexport)
#else
#define PUBLIC __attribute__((visibility("default")))
#endif

enum { OK, WARNING, DISCARD, ERROR };
enum { TIME, NUMBER, OUTPUT, PARAMETER };              /* kinds of variables */
enum { VERSION, VARIABLES, PARAMETERS, NUMBERS, LAST, CLOSES, SIZE, TOKEN, ENDS, HEAD };
enum { INSTANTIATED, INITIALIZING, STEPPING, FAILED };
enum { OF_VARIABLE = 4, OF_NUMBER = 3 };
#define SLACK 1e-6                                     /* part of h by which a communication point may be off: the sums of a master */
#define CLOSED 1e-9                                    /* part of the size of the mechanism by which a start may be open: rounding */
#define AFFINE 1e-9                                    /* part of an output by which it may be off its linear function of the inputs: rounding of accelerations */
#define LARGEST 1e12                                   /* multiple of a direction along which outputs are compared */
#define TINY 1e-15                                     /* [s] of the step that closes a start */

typedef void logger2(void *, const char *, int, const char *, const char *, ...);
typedef void logger3(void *, int, const char *, const char *);
typedef struct { logger2 *logger; void *allocate, *release, *finished, *environment; } callbacks2;

typedef struct {
    haug_model *model;
    int64_t *fmu;                                      /* a copy of the section */
    double *value;                                     /* of the parameters */
    double h;                                          /* step of the blob [s] */
    int mode, moved, warned;                           /* moved: a parameter or the time of the start was set */
    logger2 *log2;
    logger3 *log3;
    void *environment;
    char *name, say[700];
} Instance;

static double real(int64_t bits) { double x; memcpy(&x, &bits, 8); return x; }
static const int64_t *variable(const Instance *f, uint64_t r) { return f->fmu + HEAD + OF_VARIABLE * r; }
static const int64_t *values(const Instance *f) { return variable(f, (uint64_t)f->fmu[VARIABLES]); }
static const int64_t *number(const Instance *f, int64_t k) { return values(f) + f->fmu[PARAMETERS] + (OF_NUMBER + f->fmu[PARAMETERS]) * k; }
static const char *text(const Instance *f, int which) { return (const char *)f->fmu + f->fmu[which]; }

/* ---- what a tool is told ---- */

static int tell(Instance *f, int status, const char *message)
{
    const char *category = status == WARNING ? "logStatusWarning" : "logStatusError";
    if (f->log3) f->log3(f->environment, status, category, message);
    if (f->log2) {                                     /* FMI 2.0 reads # as the beginning of a reference */
        char twice[2 * sizeof f->say];
        size_t k = 0;
        for (const char *c = message; *c && k + 2 < sizeof twice; c++) { twice[k++] = *c; if (*c == '#') twice[k++] = '#'; }
        twice[k] = 0;
        f->log2(f->environment, f->name, status, category, "%s", twice);
    }
    return status;
}
static int fail(Instance *f, const char *message) { f->mode = f->mode == STEPPING ? FAILED : f->mode; return tell(f, ERROR, message); }
static int failed(Instance *f, int64_t code) { return code < 0 ? fail(f, haug_why(f->model, code)) : OK; }

/* ---- the file ---- */

static FILE *opened(const char *path)
{
#if defined(_WIN32)
    wchar_t wide[32768];
    return MultiByteToWideChar(UTF8, 0, path, -1, wide, 32768) ? _wfopen(wide, L"rb") : 0;
#else
    return fopen(path, "rb");
#endif
}

static int64_t *content(const char *path, long *bytes)
{
    FILE *file = opened(path);
    int64_t *data = 0;
    if (file && !fseek(file, 0, SEEK_END) && (*bytes = ftell(file)) > 32 && !fseek(file, 0, SEEK_SET) && (data = malloc((size_t)*bytes + 8)))
        if (fread(data, 1, (size_t)*bytes, file) != (size_t)*bytes) { free(data); data = 0; }
    if (file) fclose(file);
    return data;
}

/* The section of the FMU, a copy; 0 if there is none, or it does not hold together. */
static int64_t *section(const int64_t *blob, long bytes, haug_model *m)
{
    int64_t n = bytes / 8, *own = 0;
    for (int64_t k = 0; k < blob[3] && 4 + 3 * k + 2 < n; k++) {
        const int64_t *head = blob + 4 + 3 * k;
        if (memcmp(head, "FMU     ", 8) || head[1] < 0 || head[1] % 8 || head[1] > bytes || head[2] < HEAD || head[2] > (bytes - head[1]) / 8) continue;
        own = malloc((size_t)head[2] * 8);
        if (!own) return 0;
        memcpy(own, blob + head[1] / 8, (size_t)head[2] * 8);
        int64_t size = head[2], v = own[VARIABLES], p = own[PARAMETERS], q = own[NUMBERS];
        int right = own[VERSION] == 1 && v >= 1 && p >= 0 && q >= 0 && v < size && p < size && q < size && p * q < size
            && HEAD + OF_VARIABLE * v + p + (OF_NUMBER + p) * q < size && !((const char *)own)[8 * size - 1];
        for (int which = TOKEN; right && which <= ENDS; which++) right = own[which] >= 0 && own[which] < 8 * size;
        for (int64_t r = 0; right && r < v; r++) {
            const int64_t *row = own + HEAD + OF_VARIABLE * r;
            int64_t kind = row[0] == TIME || row[0] == PARAMETER ? 0 : haug_kind(m, row[1]);
            right = row[0] == TIME || (row[0] == PARAMETER && row[1] >= 0 && row[1] < p) || (row[0] == NUMBER && (kind == HAUG_INPUT || kind == HAUG_PARAMETER))
                || (row[0] == OUTPUT && kind == HAUG_OUTPUT);
        }
        for (int64_t r = 0; right && r < q; r++) {
            const int64_t *row = own + HEAD + OF_VARIABLE * v + p + (OF_NUMBER + p) * r;
            right = row[0] == 1 ? row[1] >= 0 && row[1] < haug_size(m) : row[0] == 0 && haug_kind(m, row[1]) == HAUG_PARAMETER;
        }
        if (right) return own;
        free(own);
        return 0;
    }
    return 0;
}

/* The path of a file URI, or a path as it is. */
static char *path_of(const char *location)
{
    char *path = malloc(strlen(location) + sizeof "/model.haug"), *to = path;
    const char *c = location;
    if (!path) return 0;
    if (!strncmp(c, "file:", 5)) {
        c += 5;
        if (!strncmp(c, "//", 2)) { c += 2; while (*c && *c != '/') c++; }
        if (c[0] == '/' && c[1] && c[2] == ':') c++;
        while (*c) {
            unsigned one;
            if (*c == '%' && c[1] && c[2] && sscanf(c + 1, "%2x", &one) == 1) { *to++ = (char)one; c += 3; }
            else *to++ = *c++;
        }
    } else while (*c) *to++ = *c++;
    while (to > path && (to[-1] == '/' || to[-1] == '\\')) to--;
    strcpy(to, "/model.haug");
    return path;
}

static void release(Instance *f)
{
    if (!f) return;
    haug_close(f->model);
    free(f->fmu); free(f->value); free(f->name); free(f);
}

static void restart(Instance *f)
{
    haug_reset(f->model);
    f->mode = INSTANTIATED;
    f->moved = f->warned = 0;
    for (int64_t k = 0; k < f->fmu[PARAMETERS]; k++) f->value[k] = real(values(f)[k]);
}

static Instance *instance(const char *name, const char *token, const char *location, logger2 *log2, logger3 *log3, void *environment)
{
    Instance *f = calloc(1, sizeof *f);
    char *path = location ? path_of(location) : 0;
    long bytes = 0;
    int64_t code = 0, *blob = 0;
    if (!f) { free(path); return 0; }
    f->log2 = log2; f->log3 = log3; f->environment = environment;
    f->name = malloc(strlen(name ? name : "") + 1);
    if (f->name) strcpy(f->name, name ? name : "");
    if (path) blob = content(path, &bytes);
    if (!blob) {
        snprintf(f->say, sizeof f->say, "the model of this FMU cannot be read: %.500s", path ? path : "it got no folder of resources");
        tell(f, ERROR, f->say);
    } else {
        f->model = haug_load(blob, bytes, &code);
        if (!f->model) tell(f, ERROR, haug_why(0, code));
        else if (!(f->fmu = section(blob, bytes, f->model))) tell(f, ERROR, "resources/model.haug is no model of an FMU");
        else if (!token || strcmp(token, text(f, TOKEN))) tell(f, ERROR, "the token (GUID) is that of another FMU");
        else f->value = calloc((size_t)f->fmu[PARAMETERS] + 1, 8);
    }
    free(path); free(blob);
    if (!f->value || !f->name) { release(f); return 0; }
    f->h = haug_step(f->model);
    restart(f);
    return f;
}

/* ---- variables ---- */

static int get(Instance *f, const uint32_t r[], size_t n, double x[])
{
    for (size_t k = 0; k < n; k++) {
        if (r[k] >= (uint64_t)f->fmu[VARIABLES]) return fail(f, "there is no variable of this value reference");
        const int64_t *v = variable(f, r[k]);
        if (v[0] == TIME) x[k] = haug_time(f->model);
        else if (v[0] == NUMBER) x[k] = haug_get(f->model, v[1]);
        else if (v[0] == PARAMETER) x[k] = f->value[v[1]];
        else { int64_t code = haug_output(f->model, v[1], x + k); if (code) return failed(f, code); }
    }
    return OK;
}

static int moves_start(const Instance *f, int64_t parameter)
{
    for (int64_t k = 0; k < f->fmu[NUMBERS]; k++) if (number(f, k)[0] == 1 && real(number(f, k)[OF_NUMBER + parameter]) != 0.0) return 1;
    return 0;
}

/* Give the model the numbers that follow from a parameter. */
static int64_t put(Instance *f, int64_t parameter)
{
    for (int64_t k = 0; k < f->fmu[NUMBERS]; k++) {
        const int64_t *w = number(f, k);
        if (real(w[OF_NUMBER + parameter]) == 0.0) continue;
        double x = real(w[2]);
        for (int64_t j = 0; j < f->fmu[PARAMETERS]; j++) { double term = real(w[OF_NUMBER + j]) * f->value[j]; x = x == 0.0 ? term : x + term; }
        if (w[0] == 1) { haug_state(f->model)[w[1]] = x; f->moved = 1; haug_changed(f->model); continue; }
        int64_t code = haug_set(f->model, w[1], x);
        if (code) return code;
    }
    return 0;
}

static int set(Instance *f, const uint32_t r[], size_t n, const double x[])
{
    for (size_t k = 0; k < n; k++) {
        if (r[k] >= (uint64_t)f->fmu[VARIABLES]) return fail(f, "there is no variable of this value reference");
        const int64_t *v = variable(f, r[k]);
        if (v[0] == TIME || v[0] == OUTPUT) return fail(f, "time and outputs cannot be set");
        if (!isfinite(x[k])) return fail(f, "a value that is not finite was set");
        if (x[k] < real(v[2]) || x[k] > real(v[3])) {
            snprintf(f->say, sizeof f->say, "value reference %u: %.9g is outside %.9g .. %.9g", (unsigned)r[k], x[k], real(v[2]), real(v[3]));
            return fail(f, f->say);
        }
        if (v[0] == NUMBER) { int64_t code = haug_set(f->model, v[1], x[k]); if (code) return failed(f, code); continue; }
        if (f->value[v[1]] == x[k]) continue;
        if (f->mode > INITIALIZING && moves_start(f, v[1])) return fail(f, "a parameter of the start was set after the initialization");
        f->value[v[1]] = x[k];
        int64_t code = put(f, v[1]);
        if (code) return failed(f, code);
    }
    return OK;
}

/* ---- time ---- */

static int at_start(Instance *f, double t)
{
    if (!isfinite(t)) return fail(f, "the start time is not finite");
    if (t == haug_time(f->model)) return OK;
    haug_set_time(f->model, t);
    f->moved |= (int)f->fmu[CLOSES];
    return OK;
}

/* Whether the start satisfies the constraints: the projection of a step of nearly nothing must not move it. */
static int begin(Instance *f)
{
    f->mode = STEPPING;
    if (!f->moved) return OK;
    int64_t n = haug_size(f->model);
    double t = haug_time(f->model), most = 0.0, *before = malloc((size_t)n * 8), *y = haug_state(f->model);
    if (!before) return fail(f, "there is not enough memory");
    memcpy(before, y, (size_t)n * 8);
    haug_changed(f->model);
    haug_set_step(f->model, TINY);
    int64_t code = haug_run(f->model, 1, 0);
    for (int64_t k = 0; k < n; k++) if (fabs(y[k] - before[k]) > most) most = fabs(y[k] - before[k]);
    haug_set_step(f->model, f->h);
    haug_set_time(f->model, t);
    free(before);
    if (code < 0) return failed(f, code);
    if (most > CLOSED * (1.0 + real(f->fmu[SIZE]))) {
        snprintf(f->say, sizeof f->say, "the start does not satisfy the constraints at t = %.6g s: closing it moves a number of the state by %.3g", t, most);
        return fail(f, f->say);
    }
    f->moved = 0;
    return OK;
}

static int advance(Instance *f, double t, double span)
{
    haug_model *m = f->model;
    double now = haug_time(m), end = t + span;
    if (f->mode != STEPPING) return fail(f, f->mode == FAILED ? "a step has failed before: reset the FMU, or give it a kept state" : "a step before the initialization has ended");
    if (!isfinite(t) || !isfinite(span) || span < 0.0) return fail(f, "a communication step must be positive");
    if (fabs(t - now) > SLACK * f->h + 1e-12 * fabs(t)) {
        snprintf(f->say, sizeof f->say, "a step from t = %.9g s was asked for, and the FMU is at %.9g s", t, now);
        return fail(f, f->say);
    }
    if (end > real(f->fmu[LAST]) + SLACK * f->h) {
        snprintf(f->say, sizeof f->say, "a step to t = %.9g s was asked for, and the model ends at %.9g s: %.400s", end, real(f->fmu[LAST]), text(f, ENDS));
        return fail(f, f->say);
    }
    double n = (end - now) / f->h, whole = floor(n + 0.5);
    int exact = whole >= 1.0 && fabs(n - whole) <= SLACK;
    if (!exact && n <= SLACK) return OK;
    if (!exact) whole = ceil(n - SLACK) < 1.0 ? 1.0 : ceil(n - SLACK);
    if (whole > 9e15) return fail(f, "a communication step has too many steps");
    haug_set_step(m, exact ? f->h : (end - now) / whole);
    for (int64_t left = (int64_t)whole, idle = 0; left > 0;) {
        int64_t made = haug_run(m, left, 0);
        if (made < 0) return failed(f, made);
        idle = made ? 0 : idle + 1;
        if (idle > 1) { snprintf(f->say, sizeof f->say, "the motion stops at a singular pose at t = %.9g s", haug_time(m)); return fail(f, f->say); }
        left -= made;
        if (left && !f->warned) {
            f->warned = 1;
            snprintf(f->say, sizeof f->say, "constraints are nearly dependent at t = %.6g s: if the motion passes through a singular pose, states behind it "
                     "differ from those of haugmbd's simulate in about the eighth digit", haug_time(m));
            tell(f, WARNING, f->say);
        }
    }
    haug_set_step(m, f->h);
    return OK;
}

/* ---- kept states: bytes, a mark of the FMU, mode, moved, parameters, then all of the engine's ---- */

enum { MARK = 4 };
static size_t kept_size(const Instance *f) { return 8 * (size_t)(MARK + f->fmu[PARAMETERS]) + (size_t)haug_saved_size(f->model); }
static int64_t mark(const Instance *f)
{
    uint64_t hash = 1469598103934665603u;
    for (const char *c = text(f, TOKEN); *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    return (int64_t)hash;
}

static int keep(Instance *f, void **state)
{
    int64_t *kept = *state ? *state : malloc(kept_size(f));
    if (!kept) return fail(f, "there is not enough memory");
    kept[0] = (int64_t)kept_size(f); kept[1] = mark(f); kept[2] = f->mode; kept[3] = f->moved;
    memcpy(kept + MARK, f->value, 8 * (size_t)f->fmu[PARAMETERS]);
    haug_save(f->model, kept + MARK + f->fmu[PARAMETERS]);
    *state = kept;
    return OK;
}
static int is_kept(Instance *f, const void *state, size_t bytes)
{
    int64_t head[2];
    if (!state || bytes < kept_size(f)) return 0;
    memcpy(head, state, sizeof head);
    return head[0] == (int64_t)kept_size(f) && head[1] == mark(f);
}
static int go_back(Instance *f, const void *state)
{
    const int64_t *kept = state;
    if (!is_kept(f, state, kept_size(f))) return fail(f, "this state was kept by another FMU");
    f->mode = (int)kept[2]; f->moved = (int)kept[3];
    memcpy(f->value, kept + MARK, 8 * (size_t)f->fmu[PARAMETERS]);
    return failed(f, haug_restore(f->model, kept + MARK + f->fmu[PARAMETERS]));
}
static int size_of(Instance *f, size_t *n) { *n = kept_size(f); return OK; }
static int serialize(Instance *f, const void *state, unsigned char bytes[], size_t n)
{
    if (n < kept_size(f) || !is_kept(f, state, n)) return fail(f, "this state was kept by another FMU, or there is no room for it");
    memcpy(bytes, state, kept_size(f));
    return OK;
}
static int deserialize(Instance *f, const unsigned char bytes[], size_t n, void **state)
{
    if (!is_kept(f, bytes, n)) return fail(f, "these are not the bytes of a state of this FMU");
    if (!*state && !(*state = malloc(kept_size(f)))) return fail(f, "there is not enough memory");
    memcpy(*state, bytes, kept_size(f));
    return OK;
}

/* ---- derivatives of outputs with respect to inputs ---- */

static int outputs_at(Instance *f, double c, const uint32_t known[], size_t n, const double u[], const double seed[], const uint32_t unknown[], size_t m, double y[])
{
    int64_t code = 0;
    for (size_t k = 0; k < n && !code; k++) code = haug_set(f->model, variable(f, known[k])[1], u[k] + c * seed[k]);
    for (size_t k = 0; k < m && !code; k++) code = haug_output(f->model, variable(f, unknown[k])[1], y + k);
    return failed(f, code);
}

/* y(u), and (y(u + c s) - y(u - c s)) / 2c, first with c = 1, then with the c for which the outputs change by their own size. */
static int along(Instance *f, const uint32_t unknown[], size_t m, const uint32_t known[], size_t n, const double seed[], double out[], double *room)
{
    double *u = room, *here = u + n, *more = here + m, *less = more + m, c = 1.0, off = 0.0;
    for (size_t k = 0; k < n; k++) u[k] = haug_get(f->model, variable(f, known[k])[1]);
    int status = outputs_at(f, 0.0, known, n, u, seed, unknown, m, here);
    for (int again = 0; again < 2 && !status; again++) {
        status = outputs_at(f, c, known, n, u, seed, unknown, m, more);
        if (!status) status = outputs_at(f, -c, known, n, u, seed, unknown, m, less);
        double most = 0.0, size = 1.0;
        for (size_t k = 0; k < m && !status; k++) {
            out[k] = 0.5 * (more[k] - less[k]) / c;
            if (fabs(out[k]) > most) most = fabs(out[k]);
            if (fabs(here[k]) > size) size = fabs(here[k]);
        }
        for (size_t k = 0; k < m && !status; k++) {
            double bend = fabs(0.5 * (more[k] + less[k]) - here[k]) / (size + c * most);
            if (!(bend <= off)) off = bend;
        }
        c = most * LARGEST > size ? size / most : LARGEST;
        if (c < 1.0) c = 1.0;
    }
    if (!status && !(off <= AFFINE)) return tell(f, ERROR, "an output is no linear function of these inputs at this state: it has no derivative that is exact");
    return status;
}

static int derive(Instance *f, const uint32_t unknown[], size_t m, const uint32_t known[], size_t n, const double seed[], double out[])
{
    for (size_t k = 0; k < n; k++) {
        if (known[k] >= (uint64_t)f->fmu[VARIABLES] || variable(f, known[k])[0] != NUMBER || haug_kind(f->model, variable(f, known[k])[1]) != HAUG_INPUT)
            return tell(f, ERROR, "derivatives are with respect to inputs");
        if (!isfinite(seed[k])) return tell(f, ERROR, "a direction that is not finite");
    }
    for (size_t k = 0; k < m; k++)
        if (unknown[k] >= (uint64_t)f->fmu[VARIABLES] || variable(f, unknown[k])[0] != OUTPUT) return tell(f, ERROR, "derivatives are of outputs");
    char *kept = malloc((size_t)haug_saved_size(f->model));
    double *room = malloc((n + 3 * m + 1) * sizeof *room);
    int status = kept && room ? OK : tell(f, ERROR, "there is not enough memory");
    if (!status) {
        haug_save(f->model, kept);
        status = along(f, unknown, m, known, n, seed, out, room);
        haug_restore(f->model, kept);
    }
    free(kept); free(room);
    return status;
}

static int lacks(Instance *f, const char *what)
{
    snprintf(f->say, sizeof f->say, "%s: this FMU does not have it", what);
    return tell(f, ERROR, f->say);
}
#define NONE(name) PUBLIC int name(Instance *f) { return lacks(f, #name); }
#define EMPTY(name) PUBLIC int name(Instance *f, const uint32_t r[], size_t n) { return n ? lacks(f, #name) : OK; }

/* ---- FMI 2.0 ---- */

PUBLIC const char *fmi2GetTypesPlatform(void) { return "default"; }
PUBLIC const char *fmi2GetVersion(void) { return "2.0"; }
PUBLIC int fmi2SetDebugLogging(Instance *f, int on, size_t n, const char *const categories[]) { return OK; }
PUBLIC Instance *fmi2Instantiate(const char *name, int type, const char *guid, const char *location, const callbacks2 *back, int visible, int logging)
{
    return type == 1 ? instance(name, guid, location, back ? back->logger : 0, 0, back ? back->environment : 0) : 0;
}
PUBLIC void fmi2FreeInstance(Instance *f) { release(f); }
PUBLIC int fmi2SetupExperiment(Instance *f, int with, double tolerance, double t, int stops, double stop) { return at_start(f, t); }
PUBLIC int fmi2EnterInitializationMode(Instance *f) { f->mode = INITIALIZING; return OK; }
PUBLIC int fmi2ExitInitializationMode(Instance *f) { return begin(f); }
PUBLIC int fmi2Terminate(Instance *f) { return OK; }
PUBLIC int fmi2Reset(Instance *f) { restart(f); return OK; }
PUBLIC int fmi2GetReal(Instance *f, const uint32_t r[], size_t n, double x[]) { return get(f, r, n, x); }
PUBLIC int fmi2SetReal(Instance *f, const uint32_t r[], size_t n, const double x[]) { return set(f, r, n, x); }
PUBLIC int fmi2DoStep(Instance *f, double t, double span, int final) { return advance(f, t, span); }
PUBLIC int fmi2GetFMUstate(Instance *f, void **state) { return keep(f, state); }
PUBLIC int fmi2SetFMUstate(Instance *f, void *state) { return go_back(f, state); }
PUBLIC int fmi2FreeFMUstate(Instance *f, void **state) { if (state) { free(*state); *state = 0; } return OK; }
PUBLIC int fmi2SerializedFMUstateSize(Instance *f, void *state, size_t *n) { return size_of(f, n); }
PUBLIC int fmi2SerializeFMUstate(Instance *f, void *state, unsigned char bytes[], size_t n) { return serialize(f, state, bytes, n); }
PUBLIC int fmi2DeSerializeFMUstate(Instance *f, const unsigned char bytes[], size_t n, void **state) { return deserialize(f, bytes, n, state); }
PUBLIC int fmi2GetRealStatus(Instance *f, int kind, double *x) { if (kind != 2) return DISCARD; *x = haug_time(f->model); return OK; }
EMPTY(fmi2GetInteger) EMPTY(fmi2GetBoolean) EMPTY(fmi2GetString) EMPTY(fmi2SetInteger) EMPTY(fmi2SetBoolean) EMPTY(fmi2SetString)
EMPTY(fmi2SetRealInputDerivatives) EMPTY(fmi2GetRealOutputDerivatives)
PUBLIC int fmi2GetDirectionalDerivative(Instance *f, const uint32_t unknown[], size_t m, const uint32_t known[], size_t n, const double seed[], double out[])
{
    return derive(f, unknown, m, known, n, seed, out);
}
NONE(fmi2CancelStep)
NONE(fmi2GetStatus) NONE(fmi2GetIntegerStatus) NONE(fmi2GetBooleanStatus) NONE(fmi2GetStringStatus)

/* ---- FMI 3.0 ---- */

PUBLIC const char *fmi3GetVersion(void) { return "3.0"; }
PUBLIC int fmi3SetDebugLogging(Instance *f, _Bool on, size_t n, const char *const categories[]) { return OK; }
PUBLIC Instance *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *path, _Bool visible, _Bool logging, _Bool events, _Bool early,
                                             const uint32_t between[], size_t n, void *environment, logger3 *log, void *update)
{
    return instance(name, token, path, 0, log, environment);
}
PUBLIC void *fmi3InstantiateModelExchange(void) { return 0; }
PUBLIC void *fmi3InstantiateScheduledExecution(void) { return 0; }
PUBLIC void fmi3FreeInstance(Instance *f) { release(f); }
PUBLIC int fmi3EnterInitializationMode(Instance *f, _Bool with, double tolerance, double t, _Bool stops, double stop) { f->mode = INITIALIZING; return at_start(f, t); }
PUBLIC int fmi3ExitInitializationMode(Instance *f) { return begin(f); }
PUBLIC int fmi3Terminate(Instance *f) { return OK; }
PUBLIC int fmi3Reset(Instance *f) { restart(f); return OK; }
PUBLIC int fmi3GetFloat64(Instance *f, const uint32_t r[], size_t n, double x[], size_t m) { return n == m ? get(f, r, n, x) : fail(f, "all variables are scalars"); }
PUBLIC int fmi3SetFloat64(Instance *f, const uint32_t r[], size_t n, const double x[], size_t m) { return n == m ? set(f, r, n, x) : fail(f, "all variables are scalars"); }
PUBLIC int fmi3DoStep(Instance *f, double t, double span, _Bool final, _Bool *event, _Bool *terminate, _Bool *early, double *last)
{
    int status = advance(f, t, span);
    if (event) *event = 0;
    if (terminate) *terminate = 0;
    if (early) *early = 0;
    if (last) *last = status == OK ? t + span : haug_time(f->model);
    return status;
}
PUBLIC int fmi3GetFMUState(Instance *f, void **state) { return keep(f, state); }
PUBLIC int fmi3SetFMUState(Instance *f, void *state) { return go_back(f, state); }
PUBLIC int fmi3FreeFMUState(Instance *f, void **state) { if (state) { free(*state); *state = 0; } return OK; }
PUBLIC int fmi3SerializedFMUStateSize(Instance *f, void *state, size_t *n) { return size_of(f, n); }
PUBLIC int fmi3SerializeFMUState(Instance *f, void *state, unsigned char bytes[], size_t n) { return serialize(f, state, bytes, n); }
PUBLIC int fmi3DeserializeFMUState(Instance *f, const unsigned char bytes[], size_t n, void **state) { return deserialize(f, bytes, n, state); }
PUBLIC int fmi3GetDirectionalDerivative(Instance *f, const uint32_t unknown[], size_t m, const uint32_t known[], size_t n, const double seed[], size_t of_seed,
                                        double out[], size_t of_out)
{
    return of_seed == n && of_out == m ? derive(f, unknown, m, known, n, seed, out) : fail(f, "all variables are scalars");
}
EMPTY(fmi3GetFloat32) EMPTY(fmi3GetInt8) EMPTY(fmi3GetUInt8) EMPTY(fmi3GetInt16) EMPTY(fmi3GetUInt16) EMPTY(fmi3GetInt32) EMPTY(fmi3GetUInt32)
EMPTY(fmi3GetInt64) EMPTY(fmi3GetUInt64) EMPTY(fmi3GetBoolean) EMPTY(fmi3GetString) EMPTY(fmi3GetBinary) EMPTY(fmi3GetClock)
EMPTY(fmi3SetFloat32) EMPTY(fmi3SetInt8) EMPTY(fmi3SetUInt8) EMPTY(fmi3SetInt16) EMPTY(fmi3SetUInt16) EMPTY(fmi3SetInt32) EMPTY(fmi3SetUInt32)
EMPTY(fmi3SetInt64) EMPTY(fmi3SetUInt64) EMPTY(fmi3SetBoolean) EMPTY(fmi3SetString) EMPTY(fmi3SetBinary) EMPTY(fmi3SetClock)
EMPTY(fmi3GetIntervalDecimal) EMPTY(fmi3GetIntervalFraction) EMPTY(fmi3GetShiftDecimal) EMPTY(fmi3GetShiftFraction)
EMPTY(fmi3SetIntervalDecimal) EMPTY(fmi3SetIntervalFraction) EMPTY(fmi3SetShiftDecimal) EMPTY(fmi3SetShiftFraction) EMPTY(fmi3GetOutputDerivatives)
NONE(fmi3EnterEventMode) NONE(fmi3GetNumberOfVariableDependencies) NONE(fmi3GetVariableDependencies)
NONE(fmi3GetAdjointDerivative) NONE(fmi3EnterConfigurationMode) NONE(fmi3ExitConfigurationMode) NONE(fmi3EvaluateDiscreteStates)
NONE(fmi3UpdateDiscreteStates) NONE(fmi3EnterContinuousTimeMode) NONE(fmi3CompletedIntegratorStep) NONE(fmi3SetTime) NONE(fmi3SetContinuousStates)
NONE(fmi3GetContinuousStateDerivatives) NONE(fmi3GetEventIndicators) NONE(fmi3GetContinuousStates) NONE(fmi3GetNominalsOfContinuousStates)
NONE(fmi3GetNumberOfEventIndicators) NONE(fmi3GetNumberOfContinuousStates) NONE(fmi3EnterStepMode) NONE(fmi3ActivateModelPartition)
