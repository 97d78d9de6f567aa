/* haugmbd.h: a mechanism in C, by the kernels of haugmbd.  Version 3.
 *
 * A model is a blob that Python has written:  mbd.engine.write("four_bar.haug", system, h=1e-3, inputs=["motor"]).
 * Numbers are little-endian, lengths in metres, angles in radians, time in seconds.
 *
 *     haug_model *m = haug_load(blob, bytes, &code);
 *     haug_set(m, haug_find(m, HAUG_INPUT, "motor"), 0.5);
 *     haug_run(m, 1000, 0);                                   1000 steps of the blob's h, states in haug_state(m)
 *     haug_close(m);
 *
 * Nothing is global: several models, and several threads with a model each, share the library.
 * A function that returns int64_t returns a negative number where it fails: -code of haugmbd/compiled/status_codes.py, or HAUG_... below;
 * haug_why says it in words, with the joint or body.
 */
#ifndef HAUGMBD_H
#define HAUGMBD_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define HAUG_VERSION 3                 /* of this header and of the blob; another one is refused */
#define HAUG_NOT_A_BLOB (-101)         /* wrong magic, a wrong length, or numbers outside their sections */
#define HAUG_OTHER_VERSION (-102)
#define HAUG_OTHER_ENGINE (-103)       /* the blob was written by other sources than those that this library was built of, or needs a routine that it lacks */
#define HAUG_NO_MEMORY (-104)
#define HAUG_NO_SUCH_ITEM (-105)
#define HAUG_NO_NUMBER (-106)          /* a value that is not finite, or a step that is not positive */

#ifndef HAUG_API
#define HAUG_API                       /* how functions are declared: the library itself exports them */
#endif

typedef struct haug_model haug_model;

enum {                                 /* kinds of items, which have names */
    HAUG_BODY = 1,                     /* "crank": its 13 numbers r, p, v, omega_bar stand at haug_place in the state */
    HAUG_REACTION = 2,                 /* "R.i", "R.j": force and torque of joint R on its body i or j, global, about the joint's point */
    HAUG_COORDINATE = 3,               /* "R.angle", "T.displacement" */
    HAUG_INPUT = 4,                    /* "motor": the number of a load, or the acceleration of a driven joint, held until it is set again */
    HAUG_PARAMETER = 5,                /* "crank.mass", "gravity.x" */
    HAUG_OUTPUT = 6,                   /* "crank.r[0]", "R.angle", "R.force[2]": outputs=[...] of the blob, with the names of Stepper */
    HAUG_LAW = 7                       /* "law": a sampled block: haug_due tells when it is to be called, haug_hold what its value is from then on */
};

HAUG_API int64_t haug_version(void);
HAUG_API const char *haug_stamp(void);          /* of the sources of the kernels */

HAUG_API haug_model *haug_load(const void *blob, int64_t bytes, int64_t *code);      /* NULL, and why in *code; the blob is no longer needed */
HAUG_API void haug_close(haug_model *m);
HAUG_API int64_t haug_reset(haug_model *m);                                          /* to the state, inputs and parameters of the blob */

HAUG_API int64_t haug_size(const haug_model *m);                                     /* numbers of a state */
HAUG_API double *haug_state(haug_model *m);                                          /* the current state; haug_changed after writing to it */
HAUG_API double *haug_rates(haug_model *m);                                          /* its rates, of the last step or evaluation */
HAUG_API double haug_time(const haug_model *m);
HAUG_API double haug_step(const haug_model *m);
HAUG_API int64_t haug_set_step(haug_model *m, double h);                             /* 0; the next steps are of h */
HAUG_API int64_t haug_set_time(haug_model *m, double t);
HAUG_API void haug_changed(haug_model *m);                                           /* the state was written from outside */

HAUG_API int64_t haug_run(haug_model *m, int64_t n, double *states);                 /* n steps; states (n, size) or NULL.  Steps made: fewer than
                                                                               n where constraints are about to become dependent, which
                                                                               only Python searches, and where a sampled block is due;
                                                                               calling again goes on */
HAUG_API int64_t haug_due(const haug_model *m);                                      /* the item of a sampled block that is to be called now, or
                                                                               HAUG_NO_SUCH_ITEM: ask before haug_run, until there is none */
HAUG_API int64_t haug_hold(haug_model *m, int64_t item, double value);               /* its value from now on; what is not called keeps its value */
HAUG_API int64_t haug_evaluate(haug_model *m);                                       /* accelerations of the current state into haug_rates */
HAUG_API int64_t haug_reaction(haug_model *m, int64_t item, double out[6]);
HAUG_API int64_t haug_coordinate(haug_model *m, int64_t item, double out[2]);        /* and its rate; angles are counted from call to call */
HAUG_API int64_t haug_set_input(haug_model *m, int64_t item, double value);
HAUG_API int64_t haug_set_parameter(haug_model *m, int64_t item, double value);
HAUG_API int64_t haug_set(haug_model *m, int64_t item, double value);                /* an input or a parameter */
HAUG_API double haug_get(haug_model *m, int64_t item);                               /* its value */
HAUG_API int64_t haug_output(haug_model *m, int64_t item, double *out);              /* an output at the state of now */
HAUG_API const char *haug_why(haug_model *m, int64_t code);                          /* a negative code in words; valid until the next call */

HAUG_API int64_t haug_items(const haug_model *m);                                    /* their number */
HAUG_API int64_t haug_find(const haug_model *m, int64_t kind, const char *name);     /* the number of an item, or HAUG_NO_SUCH_ITEM */
HAUG_API int64_t haug_kind(const haug_model *m, int64_t item);
HAUG_API const char *haug_name(const haug_model *m, int64_t item);
HAUG_API int64_t haug_place(const haug_model *m, int64_t item);                      /* of a body: its first number in the state */

HAUG_API int64_t haug_saved_size(const haug_model *m);                               /* bytes of everything that changes in a run */
HAUG_API void haug_save(haug_model *m, void *memory);                                /* state, time, inputs, parameters, workspace */
HAUG_API int64_t haug_restore(haug_model *m, const void *memory);                    /* of this model, or of another one of the same blob */

HAUG_API void *haug_alloc(int64_t bytes);       /* memory in the library's heap, where a WebAssembly host puts the blob */
HAUG_API void haug_free(void *memory);
HAUG_API void haug_use_dgemm(void *dgemm);      /* Fortran's dgemm for large nets, in place of a simple one */

#ifdef __cplusplus
}
#endif
#endif
