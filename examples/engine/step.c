/* A mechanism without Python: loads the blob of a model, steps it, and prints where its bodies are.
 *
 *     python -c "import haugmbd as mbd; from haugmbd.gallery import four_bar; mbd.engine.write('four_bar.haug', four_bar(), h=1e-3)"
 *     cc -o step step.c -I PACKAGE/engine PACKAGE/engine/library/linux_x86_64.so -Wl,-rpath,PACKAGE/engine/library
 *     ./step four_bar.haug 1000
 *
 * PACKAGE is the folder of haugmbd:  python -c "import haugmbd; print(haugmbd.__path__[0])"
 */
#include <stdio.h>
#include <stdlib.h>
#include "haugmbd.h"

static void *file(const char *name, long *bytes)
{
    FILE *f = fopen(name, "rb");
    void *content = 0;
    if (f && !fseek(f, 0, SEEK_END) && (*bytes = ftell(f)) > 0 && !fseek(f, 0, SEEK_SET) && (content = malloc((size_t)*bytes)))
        if (fread(content, 1, (size_t)*bytes, f) != (size_t)*bytes) { free(content); content = 0; }
    if (f) fclose(f);
    return content;
}

int main(int count, char **arguments)
{
    long bytes = 0;
    int64_t code = 0, made = 0, n = count > 2 ? atoll(arguments[2]) : 1000;
    void *blob = count > 1 ? file(arguments[1], &bytes) : 0;
    if (!blob) { fprintf(stderr, "step BLOB [STEPS]\n"); return 2; }
    haug_model *m = haug_load(blob, bytes, &code);
    free(blob);
    if (!m) { fprintf(stderr, "the engine refuses %s: %lld\n", arguments[1], (long long)code); return 1; }
    while (made < n) {                                  /* fewer steps where constraints are about to become dependent: go on */
        int64_t k = haug_run(m, n - made, 0);
        if (k < 0) { fprintf(stderr, "stopped at t = %g s: %lld\n", haug_time(m), (long long)k); return 1; }
        made += k;
    }
    printf("t = %.17g s, %lld steps\n", haug_time(m), (long long)made);
    for (int64_t k = 0; k < haug_items(m); k++) {
        double x[6];
        const char *name = haug_name(m, k);
        const double *y = haug_state(m) + (haug_kind(m, k) == HAUG_BODY ? haug_place(m, k) : 0);
        if (haug_kind(m, k) == HAUG_BODY) printf("%s at %.17g %.17g %.17g m\n", name, y[0], y[1], y[2]);
        if (haug_kind(m, k) == HAUG_COORDINATE && !haug_coordinate(m, k, x)) printf("%s = %.9g, rate %.9g\n", name, x[0], x[1]);
        if (haug_kind(m, k) == HAUG_REACTION && !haug_reaction(m, k, x)) printf("%s: %.6g %.6g %.6g N, %.6g %.6g %.6g N m\n", name, x[0], x[1], x[2], x[3], x[4], x[5]);
    }
    haug_close(m);
    return 0;
}
