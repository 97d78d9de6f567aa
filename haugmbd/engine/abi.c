/* The functions of haugmbd.h over the word doors of an engine.  No mechanics here: a blob says which entries are called, with which words.
 *
 * blob     "HAUGBLOB", version, bytes, sections, then for each section tag (8 letters), offset, count of 8-byte words
 * ARRAYS   rows (offset of the first number in the blob or -1 for zeros, numbers): all arrays that entries take
 * WORDS    rows (kind, value): NUMBER bits, ARRAY number, ROUTINE number of a name, LIST number, SLOT number
 * LISTS    rows (first, count) of WORDS: the arguments of a call, or the words of a record
 * NAMES    texts, each ended by 0;  TEXTS: (offset in NAMES)
 * CALLS    rows (text of the entry, list): step, rates, then those of items
 * ITEMS    rows (kind, text, a, b, c);   PLACES rows (array, number): of inputs and parameters
 * FIXED    numbers of arrays and of the state: y, y_dot, times, states, rates of states, steps that these hold, size of a state,
 *          array and first number of the status, call that reads outputs (-1 for none) and the array that it writes
 * START    t, h
 * WHERE    rows (kind, number, text): what a number of the status belongs to, in words: SLOT of a row, NODE, BODY, FRICTION
 * LINKS    rows (array, number, list): a number of an array is the address of a list, as a double
 * LAWS     rows (item, period, 0): sampled blocks, whose place in the state is that of the item
 * STAMP    16 letters: the sources of the kernels, which the engine must have been built of
 */
#include <string.h>
#include <stdlib.h>
#include <math.h>
#if defined(_WIN32)
#define PUBLIC __declspec(dllexport)
#else
#define PUBLIC __attribute__((visibility("default")))
#endif
#define HAUG_API PUBLIC
#include "haugmbd.h"
#include "names.h"

typedef int64_t word;
typedef word (*door)(word *words, word *results);
extern word haug_routine(word number);
extern word haug_entry(word number);

enum { ARRAYS, WORDS, LISTS, NAMES, TEXTS, CALLS, ITEMS, PLACES, FIXED, START, STAMP, WHERE, LINKS, LAWS, SECTIONS };
static const char TAGS[SECTIONS][9] = {"ARRAYS  ", "WORDS   ", "LISTS   ", "NAMES   ", "TEXTS   ", "CALLS   ", "ITEMS   ", "PLACES  ", "FIXED   ", "START   ", "STAMP   ", "WHERE   ", "LINKS   ", "LAWS    "};
static const int COLUMNS[SECTIONS] = {2, 2, 2, 1, 1, 2, 5, 2, 1, 1, 2, 3, 3, 3};
enum { NUMBER, ARRAY, ROUTINE, LIST, SLOT };
enum { T, H, N, TIMES, STATES, RATES, SLOTS };
enum { STEP, EVALUATE };
enum { T_0, F_0, F_DOT, HALF, MOTION };   /* places of a driven joint: f_0 + f'_0 (t - t_0) + f'' / 2 (t - t_0)^2 */
enum { AT_Y, AT_Y_DOT, AT_TIMES, AT_STATES, AT_RATES, AT_CHUNK, AT_SIZE, AT_STATUS, STATUS_PLACE, AT_OUTPUTS, AT_OUT, FIXED_NUMBERS };
enum { OF_SLOT, OF_NODE, OF_BODY, OF_FRICTION, NOWHERE };

enum { WORDS_OF_WHY = 400, MOST_LAWS = 62 };

struct haug_model {
    word *blob;                          /* a copy */
    const word *section[SECTIONS];
    word count[SECTIONS];                /* rows */
    word **array;                        /* memory of each array */
    word *memory, total;                 /* all arrays one after the other */
    word *words;                         /* all lists, resolved but for slots */
    door *call;
    word slot[SLOTS];
    double t, h, t_start;
    word done;                           /* steps from t_start */
    int jumped;                          /* an input, a parameter or the state was set: rates must be computed anew */
    int read;                            /* outputs are those of the state of now */
    double called;                       /* when sampled blocks were called last, and which of them, by bits */
    word held;
    word answered;                       /* the call of an item whose answer is that of the state of now; 0 for none */
    char why[WORDS_OF_WHY];
};

static double real(word bits) { double x; memcpy(&x, &bits, 8); return x; }
static word bits(double x) { word w; memcpy(&w, &x, 8); return w; }
static word address(const void *p) { return (word)(uintptr_t)p; }

PUBLIC int64_t haug_version(void) { return HAUG_VERSION; }
PUBLIC const char *haug_stamp(void) { return HAUG_STAMP; }
PUBLIC void *haug_alloc(int64_t bytes) { return bytes < 0 ? 0 : malloc((size_t)bytes + 8); }
PUBLIC void haug_free(void *memory) { free(memory); }

static const char *text(const haug_model *m, word k) { return (const char *)m->section[NAMES] + m->section[TEXTS][k]; }

static word number_of(const char *name, const char *const *names, word n)
{
    for (word k = 0; k < n; k++) if (!strcmp(name, names[k])) return k;
    return -1;
}

/* Whether all numbers of the blob are inside what they refer to. */
static word check(const haug_model *m, word bytes)
{
    const word *a;
    for (word k = 0; k < m->count[ARRAYS]; k++) {
        a = m->section[ARRAYS] + 2 * k;
        if (a[1] < 0 || a[1] > (word)1 << 40 || (a[0] != -1 && (a[0] < 0 || a[0] % 8 || a[0] > bytes || a[1] > (bytes - a[0]) / 8))) return HAUG_NOT_A_BLOB;
    }
    for (word k = 0; k < m->count[TEXTS]; k++)
        if (m->section[TEXTS][k] < 0 || m->section[TEXTS][k] >= 8 * m->count[NAMES]) return HAUG_NOT_A_BLOB;
    if (!m->count[NAMES] || ((const char *)m->section[NAMES])[8 * m->count[NAMES] - 1]) return HAUG_NOT_A_BLOB;
    for (word k = 0; k < m->count[WORDS]; k++) {
        a = m->section[WORDS] + 2 * k;
        word most = a[0] == ARRAY ? m->count[ARRAYS] : a[0] == ROUTINE ? m->count[TEXTS] : a[0] == LIST ? m->count[LISTS] : a[0] == SLOT ? SLOTS : 0;
        if (a[0] < 0 || a[0] > SLOT || (a[0] != NUMBER && (a[1] < 0 || a[1] >= most))) return HAUG_NOT_A_BLOB;
    }
    for (word k = 0; k < m->count[LISTS]; k++) {
        a = m->section[LISTS] + 2 * k;
        if (a[0] < 0 || a[1] < 0 || a[0] > m->count[WORDS] || a[1] > m->count[WORDS] - a[0]) return HAUG_NOT_A_BLOB;
    }
    if (m->count[CALLS] < 2 || m->count[FIXED] < FIXED_NUMBERS || m->count[START] < 2) return HAUG_NOT_A_BLOB;
    for (word k = 0; k < m->count[CALLS]; k++) {
        a = m->section[CALLS] + 2 * k;
        if (a[0] < 0 || a[0] >= m->count[TEXTS] || a[1] < 0 || a[1] >= m->count[LISTS]) return HAUG_NOT_A_BLOB;
    }
    const word *f = m->section[FIXED];
    for (int k = 0; k <= AT_RATES; k++) if (f[k] < 0 || f[k] >= m->count[ARRAYS]) return HAUG_NOT_A_BLOB;
    const word *s = m->section[ARRAYS];
    if (f[AT_CHUNK] < 1 || f[AT_SIZE] < 1 || s[2 * f[AT_Y] + 1] != f[AT_SIZE] || s[2 * f[AT_Y_DOT] + 1] != f[AT_SIZE] || s[2 * f[AT_TIMES] + 1] < f[AT_CHUNK]
        || s[2 * f[AT_STATES] + 1] / f[AT_SIZE] < f[AT_CHUNK] || s[2 * f[AT_RATES] + 1] / f[AT_SIZE] < f[AT_CHUNK]) return HAUG_NOT_A_BLOB;
    for (word k = 0; k < m->count[PLACES]; k++) {
        a = m->section[PLACES] + 2 * k;
        if (a[0] < 0 || a[0] >= m->count[ARRAYS] || a[1] < 0 || a[1] >= s[2 * a[0] + 1]) return HAUG_NOT_A_BLOB;
    }
    if (f[AT_STATUS] < 0 || f[AT_STATUS] >= m->count[ARRAYS] || f[STATUS_PLACE] < 0 || f[STATUS_PLACE] + 4 > s[2 * f[AT_STATUS] + 1]) return HAUG_NOT_A_BLOB;
    if (f[AT_OUTPUTS] != -1 && (f[AT_OUTPUTS] < 2 || f[AT_OUTPUTS] >= m->count[CALLS] || f[AT_OUT] < 0 || f[AT_OUT] >= m->count[ARRAYS])) return HAUG_NOT_A_BLOB;
    for (word k = 0; k < m->count[LINKS]; k++) {
        a = m->section[LINKS] + 3 * k;
        if (a[0] < 0 || a[0] >= m->count[ARRAYS] || a[1] < 0 || a[1] >= s[2 * a[0] + 1] || a[2] < 0 || a[2] >= m->count[LISTS]) return HAUG_NOT_A_BLOB;
    }
    for (word k = 0; k < m->count[LAWS]; k++) {
        a = m->section[LAWS] + 3 * k;
        const word *i = m->section[ITEMS] + 5 * a[0];
        if (k >= MOST_LAWS || a[0] < 0 || a[0] >= m->count[ITEMS] || i[0] != HAUG_LAW || i[2] < 0 || i[2] >= f[AT_SIZE] || !(real(a[1]) > 0.0)) return HAUG_NOT_A_BLOB;
    }
    for (word k = 0; k < m->count[WHERE]; k++) {
        a = m->section[WHERE] + 3 * k;
        if (a[2] < 0 || a[2] >= m->count[TEXTS]) return HAUG_NOT_A_BLOB;
    }
    for (word k = 0; k < m->count[ITEMS]; k++) {
        a = m->section[ITEMS] + 5 * k;
        if (a[1] < 0 || a[1] >= m->count[TEXTS]) return HAUG_NOT_A_BLOB;
        if (a[0] == HAUG_OUTPUT && a[2] == 0 && (f[AT_OUTPUTS] == -1 || a[4] < 0 || a[4] >= s[2 * f[AT_OUT] + 1])) return HAUG_NOT_A_BLOB;
        if (a[0] == HAUG_OUTPUT && a[2] != 0 && (a[2] < 2 || a[2] >= m->count[CALLS] || a[3] < 0 || a[3] >= m->count[ARRAYS] || a[4] < 0 || a[4] >= s[2 * a[3] + 1])) return HAUG_NOT_A_BLOB;
        if (a[0] == HAUG_BODY && (a[2] < 0 || a[2] + 13 > f[AT_SIZE])) return HAUG_NOT_A_BLOB;
        if ((a[0] == HAUG_REACTION || a[0] == HAUG_COORDINATE)
            && (a[2] < 2 || a[2] >= m->count[CALLS] || a[3] < 0 || a[3] >= m->count[ARRAYS] || s[2 * a[3] + 1] < (a[0] == HAUG_REACTION ? 6 : 2))) return HAUG_NOT_A_BLOB;
        if ((a[0] == HAUG_INPUT || a[0] == HAUG_PARAMETER) && (a[2] < 0 || a[3] < 1 || a[3] > m->count[PLACES] || a[2] > m->count[PLACES] - a[3])) return HAUG_NOT_A_BLOB;
        if (a[0] == HAUG_INPUT && a[4] && a[3] != MOTION) return HAUG_NOT_A_BLOB;
    }
    return 0;
}

static word sections(haug_model *m, word bytes)
{
    const word *b = m->blob;
    if (bytes < 32 || memcmp(b, "HAUGBLOB", 8)) return HAUG_NOT_A_BLOB;
    if (b[1] != HAUG_VERSION) return HAUG_OTHER_VERSION;
    if (b[2] != bytes || b[3] < 0 || b[3] > (bytes - 32) / 24) return HAUG_NOT_A_BLOB;
    for (word k = 0; k < b[3]; k++) {
        const word *head = b + 4 + 3 * k;
        for (int s = 0; s < SECTIONS; s++) if (!memcmp(head, TAGS[s], 8)) {
            if (head[1] < 0 || head[1] % 8 || head[1] > bytes || head[2] < 0 || head[2] > (bytes - head[1]) / 8 || head[2] % COLUMNS[s]) return HAUG_NOT_A_BLOB;
            m->section[s] = b + head[1] / 8;
            m->count[s] = head[2] / COLUMNS[s];
        }
    }
    for (int s = 0; s < SECTIONS; s++) if (!m->section[s]) return HAUG_NOT_A_BLOB;
    if (m->count[STAMP] != 1 || strlen(HAUG_STAMP) != 16 || memcmp(m->section[STAMP], HAUG_STAMP, 16)) return HAUG_OTHER_ENGINE;
    return check(m, bytes);
}

/* Memory for all arrays, and words that refer to it. */
static word place(haug_model *m)
{
    for (word k = 0; k < m->count[ARRAYS]; k++) m->total += m->section[ARRAYS][2 * k + 1] + 1;
    m->array = calloc((size_t)m->count[ARRAYS] + 1, sizeof *m->array);
    m->memory = calloc((size_t)m->total + 1, 8);
    m->words = calloc((size_t)m->count[WORDS] + 1, 8);
    m->call = calloc((size_t)m->count[CALLS] + 1, sizeof *m->call);
    if (!m->array || !m->memory || !m->words || !m->call) return HAUG_NO_MEMORY;
    word at = 0;
    for (word k = 0; k < m->count[ARRAYS]; k++) { m->array[k] = m->memory + at; at += m->section[ARRAYS][2 * k + 1] + 1; }
    for (word k = 0; k < m->count[WORDS]; k++) {
        const word *w = m->section[WORDS] + 2 * k;
        word n = w[0] == ROUTINE ? number_of(text(m, w[1]), ROUTINE_NAMES, N_ROUTINES) : 0;
        if (n < 0) return HAUG_OTHER_ENGINE;
        m->words[k] = w[0] == ARRAY ? address(m->array[w[1]]) : w[0] == ROUTINE ? haug_routine(n) : w[0] == LIST ? address(m->words + m->section[LISTS][2 * w[1]]) : w[1];
    }
    for (word k = 0; k < m->count[CALLS]; k++) {
        word n = number_of(text(m, m->section[CALLS][2 * k]), ENTRY_NAMES, N_ENTRIES);
        if (n < 0) return HAUG_OTHER_ENGINE;
        m->call[k] = (door)(uintptr_t)haug_entry(n);
    }
    return 0;
}

PUBLIC void haug_close(haug_model *m)
{
    if (!m) return;
    free(m->blob); free(m->array); free(m->memory); free(m->words); free(m->call); free(m);
}

PUBLIC haug_model *haug_load(const void *blob, int64_t bytes, int64_t *code)
{
    static const union { int16_t number; char low; } order = {1};
    word dummy;
    if (!code) code = &dummy;
    *code = HAUG_NOT_A_BLOB;
    if (!blob || bytes < 32 || !order.low) return 0;
    haug_model *m = calloc(1, sizeof *m);
    if (m) m->blob = malloc((size_t)bytes);
    if (!m || !m->blob) { haug_close(m); *code = HAUG_NO_MEMORY; return 0; }
    memcpy(m->blob, blob, (size_t)bytes);
    *code = sections(m, bytes);
    if (!*code) *code = place(m);
    if (*code) { haug_close(m); return 0; }
    haug_reset(m);
    return m;
}

/* Write the addresses of lists that stand in arrays. */
static void link_lists(haug_model *m)
{
    for (word k = 0; k < m->count[LINKS]; k++) {
        const word *a = m->section[LINKS] + 3 * k;
        double where = (double)address(m->words + m->section[LISTS][2 * a[2]]);
        memcpy(m->array[a[0]] + a[1], &where, 8);
    }
}

PUBLIC int64_t haug_reset(haug_model *m)
{
    memset(m->memory, 0, (size_t)m->total * 8);
    for (word k = 0; k < m->count[ARRAYS]; k++) {
        const word *a = m->section[ARRAYS] + 2 * k;
        if (a[0] != -1) memcpy(m->array[k], (const char *)m->blob + a[0], (size_t)a[1] * 8);
    }
    link_lists(m);
    m->t = m->t_start = real(m->section[START][0]);
    m->h = real(m->section[START][1]);
    m->done = 0;
    m->jumped = m->read = 0;
    m->answered = 0;
    m->called = -INFINITY;
    m->held = 0;
    return 0;
}

/* Call an entry with the words of its list, where slots have their current values. */
static word call(haug_model *m, word k, word *results)
{
    const word *list = m->section[LISTS] + 2 * m->section[CALLS][2 * k + 1];
    for (word q = 0; q < list[1]; q++) {
        const word *w = m->section[WORDS] + 2 * (list[0] + q);
        if (w[0] == SLOT) m->words[list[0] + q] = m->slot[w[1]];
    }
    return m->call[k](m->words + list[0], results);
}

static double *of(haug_model *m, int which) { return (double *)m->array[m->section[FIXED][which]]; }

PUBLIC int64_t haug_size(const haug_model *m) { return m->section[FIXED][AT_SIZE]; }
PUBLIC double *haug_state(haug_model *m) { return of(m, AT_Y); }
PUBLIC double *haug_rates(haug_model *m) { return of(m, AT_Y_DOT); }
PUBLIC double haug_time(const haug_model *m) { return m->t; }
PUBLIC double haug_step(const haug_model *m) { return m->h; }

static void begin_here(haug_model *m) { m->t_start = m->t; m->done = 0; }
static void moved(haug_model *m) { m->read = 0; m->answered = 0; }

PUBLIC void haug_changed(haug_model *m) { m->jumped = 1; moved(m); begin_here(m); }
PUBLIC int64_t haug_set_time(haug_model *m, double t) { if (!isfinite(t)) return HAUG_NO_NUMBER; m->t = t; haug_changed(m); return 0; }
PUBLIC int64_t haug_set_step(haug_model *m, double h)
{
    if (!isfinite(h) || !(h > 0.0)) return HAUG_NO_NUMBER;
    if (h != m->h) begin_here(m);
    m->h = h;
    return 0;
}

PUBLIC int64_t haug_evaluate(haug_model *m)
{
    word results[8] = {0};
    m->slot[T] = bits(m->t); m->slot[H] = bits(m->h);
    if (call(m, EVALUATE, results)) return HAUG_NO_NUMBER;
    if (results[0]) return -results[0];
    m->jumped = 0;
    return 0;
}

/* Read the outputs at the last of n states, with the rates there; angles are counted from state to state. */
static word follow(haug_model *m, double *states, word n)
{
    word results[8] = {0}, k = m->section[FIXED][AT_OUTPUTS];
    if (k != -1 && n > 0) {
        m->slot[STATES] = address(states); m->slot[N] = n;
        if (call(m, k, results)) return HAUG_NO_NUMBER;
    }
    m->read = 1;
    return 0;
}

/* ---- sampled blocks: called at the multiples of their periods, t = k period, where a step ends ---- */

/* As `control.sampled`: times that are nearer to each other, relative to a period, are the same; a rest of a step that is shorter is none. */
#define SAME 1e-9
static double period_of(const haug_model *m, word k) { return real(m->section[LAWS][3 * k + 1]); }

/* The k of the multiple of a period at a time, or before it; *there: whether it is one. */
static double multiple(double t, double period, int *there)
{
    double n = t / period, k = floor(n + 0.5);
    *there = fabs(n - k) <= SAME + 4.0 * 2.220446049250313e-16 * fabs(n);
    return *there ? k : floor(n);
}

static int is_due(const haug_model *m, word k)
{
    int there;
    multiple(m->t, period_of(m, k), &there);
    return there && !(m->t - m->called <= SAME * period_of(m, k) && m->held >> k & 1);
}

/* When the next one is to be called, infinite without any. */
static double next_call(const haug_model *m)
{
    double next = INFINITY;
    int there;
    for (word k = 0; k < m->count[LAWS]; k++) {
        double t = period_of(m, k) * (multiple(m->t, period_of(m, k), &there) + 1.0);
        if (t < next) next = t;
    }
    return next;
}

static void keep_call(haug_model *m, word k)
{
    if (m->called != m->t) { m->called = m->t; m->held = 0; }
    m->held |= (word)1 << k;
    m->jumped = 1;
    begin_here(m);
}

PUBLIC int64_t haug_due(const haug_model *m)
{
    for (word k = 0; k < m->count[LAWS]; k++) if (is_due(m, k)) return m->section[LAWS][3 * k];
    return HAUG_NO_SUCH_ITEM;
}

PUBLIC int64_t haug_hold(haug_model *m, int64_t k, double value)
{
    if (!isfinite(value)) return HAUG_NO_NUMBER;
    for (word law = 0; law < m->count[LAWS]; law++) if (m->section[LAWS][3 * law] == k) {
        haug_state(m)[m->section[ITEMS][5 * k + 2]] = value;
        moved(m);
        keep_call(m, law);
        return 0;
    }
    return HAUG_NO_SUCH_ITEM;
}

PUBLIC int64_t haug_run(haug_model *m, int64_t n, double *states)
{
    word size = haug_size(m), made = 0, results[8];
    moved(m);
    if (n < 0) return HAUG_NO_NUMBER;
    if (!n) return 0;
    for (word k = 0; k < m->count[LAWS]; k++) if (is_due(m, k)) keep_call(m, k);
    if (m->jumped) { word code = haug_evaluate(m); if (code) return code; }
    double stop = next_call(m), full = isfinite(stop) ? floor((stop - m->t_start) / m->h * (1.0 + 1e-12)) : INFINITY;
    double rest = isfinite(stop) ? stop - m->t_start - full * m->h : 0.0;
    if (!(rest > SAME * m->h)) rest = 0.0;
    while (made < n) {
        word k = n - made < m->section[FIXED][AT_CHUNK] ? n - made : m->section[FIXED][AT_CHUNK];
        if ((double)k > full - (double)m->done) k = (word)full - m->done;
        double *times = of(m, AT_TIMES), *out = states ? states + made * size : of(m, AT_STATES), h = m->h;
        for (word q = 0; q < k; q++) { double way = m->h * (double)(m->done + q + 1); times[q] = m->t_start + way; }
        int arrives = (double)(m->done + k) == full && !rest;
        if (k <= 0) { k = 1; h = rest; arrives = 1; }           /* the rest of a period */
        if (arrives) times[k - 1] = stop;
        double begun = m->h * (double)m->done;
        m->slot[T] = bits(m->t_start + begun); m->slot[H] = bits(h); m->slot[N] = k;
        m->slot[TIMES] = address(times); m->slot[STATES] = address(out); m->slot[RATES] = address(of(m, AT_RATES));
        memset(results, 0, sizeof results);
        if (call(m, STEP, results)) return HAUG_NO_NUMBER;
        m->done += results[1]; made += results[1];
        if (results[1]) { m->t = times[results[1] - 1]; if (follow(m, out, results[1])) return HAUG_NO_NUMBER; }
        if (results[0]) return -results[0];
        if (results[1] < k) return made;
        if (arrives) { begin_here(m); return made; }
    }
    return made;
}

static const word *item(const haug_model *m, word k) { return k >= 0 && k < m->count[ITEMS] ? m->section[ITEMS] + 5 * k : 0; }

/* Let the call of an item write its array, unless that of the state of now is there. */
static word ask(haug_model *m, word k)
{
    word results[8] = {0};
    if (m->answered == k) return 0;
    m->answered = 0;
    m->slot[T] = bits(m->t);
    if (call(m, k, results)) return HAUG_NO_NUMBER;
    if (results[0]) return -results[0];
    m->answered = k;
    return 0;
}

static word answer(haug_model *m, word k, word kind, int size, double *out)
{
    const word *i = item(m, k);
    if (!i || i[0] != kind) return HAUG_NO_SUCH_ITEM;
    word code = ask(m, i[2]);
    if (!code) memcpy(out, m->array[i[3]], (size_t)size * 8);
    return code;
}

PUBLIC int64_t haug_output(haug_model *m, int64_t k, double *out)
{
    const word *i = item(m, k);
    word code = 0;
    if (!i || i[0] != HAUG_OUTPUT) return HAUG_NO_SUCH_ITEM;
    if (i[2]) code = ask(m, i[2]);
    else if (!m->read) {
        if (m->jumped) code = haug_evaluate(m);
        if (!code) code = follow(m, haug_state(m), 1);
    }
    if (!code) *out = real(m->array[i[2] ? i[3] : m->section[FIXED][AT_OUT]][i[4]]);
    return code;
}

PUBLIC int64_t haug_reaction(haug_model *m, int64_t k, double out[6]) { return answer(m, k, HAUG_REACTION, 6, out); }
PUBLIC int64_t haug_coordinate(haug_model *m, int64_t k, double out[2]) { return answer(m, k, HAUG_COORDINATE, 2, out); }

static double *at(const haug_model *m, const word *places, int k) { return (double *)m->array[places[2 * k]] + places[2 * k + 1]; }

/* Let a driven joint go on from its angle and rate of now with another acceleration. */
static void accelerate(haug_model *m, const word *places, double value)
{
    double t_0 = *at(m, places, T_0), f = *at(m, places, F_0), f_dot = *at(m, places, F_DOT), half = *at(m, places, HALF), tau = m->t - t_0;
    *at(m, places, T_0) = m->t;
    *at(m, places, F_0) = f + tau * (f_dot + tau * half);
    *at(m, places, F_DOT) = f_dot + 2.0 * tau * half;
    *at(m, places, HALF) = 0.5 * value;
}

PUBLIC int64_t haug_set(haug_model *m, int64_t k, double value)
{
    const word *i = item(m, k);
    if (!i || (i[0] != HAUG_INPUT && i[0] != HAUG_PARAMETER)) return HAUG_NO_SUCH_ITEM;
    if (!isfinite(value)) return HAUG_NO_NUMBER;
    if (haug_get(m, k) == value) return 0;
    moved(m);
    if (i[0] == HAUG_INPUT && i[4]) { accelerate(m, m->section[PLACES] + 2 * i[2], value); m->jumped = 1; return 0; }
    for (word q = i[2]; q < i[2] + i[3]; q++) {
        const word *p = m->section[PLACES] + 2 * q;
        memcpy(m->array[p[0]] + p[1], &value, 8);
    }
    m->jumped = 1;
    return 0;
}
PUBLIC int64_t haug_set_input(haug_model *m, int64_t k, double value) { return haug_kind(m, k) == HAUG_INPUT ? haug_set(m, k, value) : HAUG_NO_SUCH_ITEM; }
PUBLIC int64_t haug_set_parameter(haug_model *m, int64_t k, double value) { return haug_kind(m, k) == HAUG_PARAMETER ? haug_set(m, k, value) : HAUG_NO_SUCH_ITEM; }
PUBLIC double haug_get(haug_model *m, int64_t k)
{
    const word *i = item(m, k);
    if (!i || (i[0] != HAUG_INPUT && i[0] != HAUG_PARAMETER)) return NAN;
    const word *p = m->section[PLACES] + 2 * i[2];
    if (i[0] == HAUG_INPUT && i[4]) return 2.0 * *at(m, p, HALF);
    return real(m->array[p[0]][p[1]]);
}

PUBLIC int64_t haug_items(const haug_model *m) { return m->count[ITEMS]; }
PUBLIC int64_t haug_kind(const haug_model *m, int64_t k) { const word *i = item(m, k); return i ? i[0] : HAUG_NO_SUCH_ITEM; }
PUBLIC const char *haug_name(const haug_model *m, int64_t k) { const word *i = item(m, k); return i ? text(m, i[1]) : ""; }
PUBLIC int64_t haug_place(const haug_model *m, int64_t k) { const word *i = item(m, k); return i && i[0] == HAUG_BODY ? i[2] : HAUG_NO_SUCH_ITEM; }
PUBLIC int64_t haug_find(const haug_model *m, int64_t kind, const char *name)
{
    for (word k = 0; k < m->count[ITEMS]; k++) if (item(m, k)[0] == kind && !strcmp(name, text(m, item(m, k)[1]))) return k;
    return HAUG_NO_SUCH_ITEM;
}

/* t, h, t_start, done, jumped, read, answered, called, held, then all arrays: addresses are in words, which stay those of each model */
enum { KEPT_HEAD = 9 };
PUBLIC int64_t haug_saved_size(const haug_model *m) { return 8 * (m->total + KEPT_HEAD); }
PUBLIC void haug_save(haug_model *m, void *memory)
{
    word head[KEPT_HEAD] = {bits(m->t), bits(m->h), bits(m->t_start), m->done, m->jumped, m->read, m->answered, bits(m->called), m->held};
    memcpy(memory, head, sizeof head);
    memcpy((char *)memory + sizeof head, m->memory, (size_t)m->total * 8);
}
PUBLIC int64_t haug_restore(haug_model *m, const void *memory)
{
    word head[KEPT_HEAD];
    memcpy(head, memory, sizeof head);
    m->t = real(head[0]); m->h = real(head[1]); m->t_start = real(head[2]); m->done = head[3]; m->jumped = (int)head[4]; m->read = (int)head[5]; m->answered = head[6]; m->called = real(head[7]); m->held = head[8];
    memcpy(m->memory, (const char *)memory + sizeof head, (size_t)m->total * 8);
    link_lists(m);
    return 0;
}

/* ---- why a call failed, in words ---- */

static void say(haug_model *m, const char *text)
{
    size_t at = strlen(m->why);
    while (*text && at + 1 < WORDS_OF_WHY) m->why[at++] = *text++;
    m->why[at] = 0;
}

/* A number with four digits: 0.0123, 12.3, 1.234e-09. */
static void say_number(haug_model *m, double x)
{
    char digits[8] = {0}, one[2] = {0};
    if (!isfinite(x)) { say(m, isnan(x) ? "nan" : x > 0.0 ? "inf" : "-inf"); return; }
    if (x < 0.0) { say(m, "-"); x = -x; }
    if (x == 0.0) { say(m, "0"); return; }
    int e = (int)floor(log10(x)), last = 3;
    double scaled = floor(x * pow(10.0, 3 - e) + 0.5);
    if (scaled >= 10000.0) { scaled = floor(scaled / 10.0 + 0.5); e++; }
    for (int k = 3, n = (int)scaled; k >= 0; k--, n /= 10) digits[k] = (char)('0' + n % 10);
    int plain = e >= -4 && e < 4, point = plain ? (e >= 0 ? e : -1) : 0;
    while (last > (point > 0 ? point : 0) && digits[last] == '0') last--;
    if (plain && e < 0) { say(m, "0."); for (int k = -1; k > e; k--) say(m, "0"); }
    for (int k = 0; k <= last; k++) {
        *one = digits[k];
        say(m, one);
        if (k == point && k < last && !(plain && e < 0)) say(m, ".");
    }
    if (plain) return;
    say(m, e < 0 ? "e-" : "e+");
    if (e < 0) e = -e;
    if (e >= 100) { *one = (char)('0' + e / 100); say(m, one); }
    *one = (char)('0' + e / 10 % 10); say(m, one);
    *one = (char)('0' + e % 10); say(m, one);
}

/* Codes of haugmbd/compiled/status_codes.py: what they say, what their number is, and what their place counts. */
static const struct { const char *says, *number; int of; } MEANS[] = {
    {"", 0, NOWHERE},
    {"the mass matrix and the constraints are singular (a dead centre, bars in line, a body without inertia)", "pivot", OF_NODE},
    {"a direction without mass is not held by a joint", "residual", OF_NODE},
    {"the state is not finite: the step is too large for this motion, or a force grows without bound", 0, OF_BODY},
    {"a function of the user stopped the run", 0, NOWHERE},
    {"the error control needs a step below rounding, or a stop touches and is released without end: the step is too large for it", "step", NOWHERE},
    {"the projection cannot reach the constraints: the step is too large, or the mechanism cannot be assembled there", "left", OF_SLOT},
    {"Newton's iteration of an implicit step did not converge", "last correction", NOWHERE},
    {"Euler parameters leave their sphere", "part", OF_BODY},
    {"a body turns too far in a step", "turn [rad]", OF_BODY},
    {"the energy projection did not reach its tolerance", "left", NOWHERE},
    {"dependent rows contradict each other", "part left", NOWHERE},
    {"a force element has no force at this state", 0, NOWHERE},
    {"friction and reactions have no solution", "slope", OF_FRICTION},
    {"friction and reactions have two solutions", "slope", OF_FRICTION},
    {"friction and reactions were not found", "slope", OF_FRICTION},
    {"which joints stick was not found", "lacks [N]", OF_FRICTION},
};
static const char *const REFUSED[] = {
    "this is not a whole blob", "the blob was written for another version of the engine", "the engine was built of other sources than the blob",
    "there is not enough memory", "there is no such item", "a number is not finite, or a step is not positive",
};

PUBLIC const char *haug_why(haug_model *m, int64_t code)
{
    static const char *const unknown = "the engine stopped";
    if (code <= HAUG_NOT_A_BLOB && code >= HAUG_NO_NUMBER) return REFUSED[HAUG_NOT_A_BLOB - code];
    if (!m || code >= 0 || -code >= (int64_t)(sizeof MEANS / sizeof *MEANS)) return unknown;
    const double *status = (const double *)m->array[m->section[FIXED][AT_STATUS]] + m->section[FIXED][STATUS_PLACE];
    word place = isfinite(status[1]) ? (word)status[1] : -1;
    int of = MEANS[-code].of;
    if (of == OF_BODY && code == -3) {                       /* a place in the state, or -1 - joint with friction */
        if (place < 0) { of = OF_FRICTION; place = -1 - place; } else place /= 13;
    }
    *m->why = 0;
    say(m, "t = "); say_number(m, m->t); say(m, " s: "); say(m, MEANS[-code].says);
    for (word k = 0; status[0] == (double)-code && k < m->count[WHERE]; k++) {
        const word *w = m->section[WHERE] + 3 * k;
        if (w[0] == of && w[1] == place) { say(m, ": "); say(m, text(m, w[2])); break; }
    }
    if (MEANS[-code].number && status[0] == (double)-code) { say(m, " ("); say(m, MEANS[-code].number); say(m, " "); say_number(m, status[2]); say(m, ")"); }
    return m->why;
}
