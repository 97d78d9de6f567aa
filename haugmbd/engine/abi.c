/* The functions of haugmbd.h over the word doors of an engine.  No mechanics here: a blob says which entries are called, with which words.
 *
 * blob     "HAUGBLOB", version, bytes, sections, then for each section tag (8 letters), offset, count of 8-byte words
 * ARRAYS   rows (offset of the first number in the blob or -1 for zeros, numbers): all arrays that entries take
 * WORDS    rows (kind, value): NUMBER bits, ARRAY number, ROUTINE number of a name, LIST number, SLOT number
 * LISTS    rows (first, count) of WORDS: the arguments of a call, or the words of a record
 * NAMES    texts, each ended by 0;  TEXTS: (offset in NAMES)
 * CALLS    rows (text of the entry, list): step, rates, then those of items
 * ITEMS    rows (kind, text, a, b, c);   PLACES rows (array, number): of inputs and parameters
 * FIXED    numbers of arrays and of the state: y, y_dot, times, states, rates of states, steps that these hold
 * START    t, h
 * STAMP    16 letters: the sources of the kernels, which the engine must have been built of
 */
#include <string.h>
#include <stdlib.h>
#include <math.h>
#include "haugmbd.h"
#include "names.h"

#if defined(_WIN32)
#define PUBLIC __declspec(dllexport)
#else
#define PUBLIC __attribute__((visibility("default")))
#endif

typedef int64_t word;
typedef word (*door)(word *words, word *results);
extern word haug_routine(word number);
extern word haug_entry(word number);

enum { ARRAYS, WORDS, LISTS, NAMES, TEXTS, CALLS, ITEMS, PLACES, FIXED, START, STAMP, SECTIONS };
static const char TAGS[SECTIONS][9] = {"ARRAYS  ", "WORDS   ", "LISTS   ", "NAMES   ", "TEXTS   ", "CALLS   ", "ITEMS   ", "PLACES  ", "FIXED   ", "START   ", "STAMP   "};
static const int COLUMNS[SECTIONS] = {2, 2, 2, 1, 1, 2, 5, 2, 1, 1, 2};
enum { NUMBER, ARRAY, ROUTINE, LIST, SLOT };
enum { T, H, N, TIMES, STATES, RATES, SLOTS };
enum { STEP, EVALUATE };
enum { AT_Y, AT_Y_DOT, AT_TIMES, AT_STATES, AT_RATES, AT_CHUNK, AT_SIZE, FIXED_NUMBERS };

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
    for (word k = 0; k < m->count[ITEMS]; k++) {
        a = m->section[ITEMS] + 5 * k;
        if (a[1] < 0 || a[1] >= m->count[TEXTS]) return HAUG_NOT_A_BLOB;
        if (a[0] == HAUG_BODY && (a[2] < 0 || a[2] + 13 > f[AT_SIZE])) return HAUG_NOT_A_BLOB;
        if ((a[0] == HAUG_REACTION || a[0] == HAUG_COORDINATE)
            && (a[2] < 2 || a[2] >= m->count[CALLS] || a[3] < 0 || a[3] >= m->count[ARRAYS] || s[2 * a[3] + 1] < (a[0] == HAUG_REACTION ? 6 : 2))) return HAUG_NOT_A_BLOB;
        if ((a[0] == HAUG_INPUT || a[0] == HAUG_PARAMETER) && (a[2] < 0 || a[3] < 1 || a[2] + a[3] > m->count[PLACES])) return HAUG_NOT_A_BLOB;
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

PUBLIC int64_t haug_reset(haug_model *m)
{
    memset(m->memory, 0, (size_t)m->total * 8);
    for (word k = 0; k < m->count[ARRAYS]; k++) {
        const word *a = m->section[ARRAYS] + 2 * k;
        if (a[0] != -1) memcpy(m->array[k], (const char *)m->blob + a[0], (size_t)a[1] * 8);
    }
    m->t = m->t_start = real(m->section[START][0]);
    m->h = real(m->section[START][1]);
    m->done = 0;
    m->jumped = 0;
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

PUBLIC void haug_changed(haug_model *m) { m->jumped = 1; begin_here(m); }
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
    m->slot[T] = bits(m->t);
    if (call(m, EVALUATE, results)) return HAUG_NO_NUMBER;
    if (results[0]) return -results[0];
    m->jumped = 0;
    return 0;
}

PUBLIC int64_t haug_run(haug_model *m, int64_t n, double *states)
{
    word size = haug_size(m), made = 0, results[8];
    if (n < 0) return HAUG_NO_NUMBER;
    if (m->jumped) { word code = haug_evaluate(m); if (code) return code; }
    while (made < n) {
        word k = n - made < m->section[FIXED][AT_CHUNK] ? n - made : m->section[FIXED][AT_CHUNK];
        double *times = of(m, AT_TIMES), *out = states ? states + made * size : of(m, AT_STATES);
        for (word q = 0; q < k; q++) { double way = m->h * (double)(m->done + q + 1); times[q] = m->t_start + way; }
        double begun = m->h * (double)m->done;
        m->slot[T] = bits(m->t_start + begun); m->slot[H] = bits(m->h); m->slot[N] = k;
        m->slot[TIMES] = address(times); m->slot[STATES] = address(out); m->slot[RATES] = address(of(m, AT_RATES));
        memset(results, 0, sizeof results);
        if (call(m, STEP, results)) return HAUG_NO_NUMBER;
        m->done += results[1]; made += results[1];
        if (results[1]) m->t = times[results[1] - 1];
        if (results[0]) return -results[0];
        if (results[1] < k) return made;
    }
    return made;
}

static const word *item(const haug_model *m, word k) { return k >= 0 && k < m->count[ITEMS] ? m->section[ITEMS] + 5 * k : 0; }

static word answer(haug_model *m, word k, word kind, int size, double *out)
{
    const word *i = item(m, k);
    word results[8] = {0};
    if (!i || i[0] != kind) return HAUG_NO_SUCH_ITEM;
    m->slot[T] = bits(m->t);
    if (call(m, i[2], results)) return HAUG_NO_NUMBER;
    if (results[0]) return -results[0];
    memcpy(out, m->array[i[3]], (size_t)size * 8);
    return 0;
}

PUBLIC int64_t haug_reaction(haug_model *m, int64_t k, double out[6]) { return answer(m, k, HAUG_REACTION, 6, out); }
PUBLIC int64_t haug_coordinate(haug_model *m, int64_t k, double out[2]) { return answer(m, k, HAUG_COORDINATE, 2, out); }

PUBLIC int64_t haug_set(haug_model *m, int64_t k, double value)
{
    const word *i = item(m, k);
    if (!i || (i[0] != HAUG_INPUT && i[0] != HAUG_PARAMETER)) return HAUG_NO_SUCH_ITEM;
    if (!isfinite(value)) return HAUG_NO_NUMBER;
    if (haug_get(m, k) == value) return 0;
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

/* t, h, t_start, done, jumped, then all arrays: addresses are in words, which stay those of each model */
PUBLIC int64_t haug_saved_size(const haug_model *m) { return 8 * (m->total + 5); }
PUBLIC void haug_save(haug_model *m, void *memory)
{
    word head[5] = {bits(m->t), bits(m->h), bits(m->t_start), m->done, m->jumped};
    memcpy(memory, head, sizeof head);
    memcpy((char *)memory + sizeof head, m->memory, (size_t)m->total * 8);
}
PUBLIC int64_t haug_restore(haug_model *m, const void *memory)
{
    word head[5];
    memcpy(head, memory, sizeof head);
    m->t = real(head[0]); m->h = real(head[1]); m->t_start = real(head[2]); m->done = head[3]; m->jumped = (int)head[4];
    memcpy(m->memory, (const char *)memory + sizeof head, (size_t)m->total * 8);
    return 0;
}
