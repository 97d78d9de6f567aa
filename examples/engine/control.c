/* A mechanism without Python, under control: a motor pulls the crank towards one radian.  docs/c-interface.md explains it. */
#include <stdio.h>
#include <stdlib.h>
#include "haugmbd.h"

int main(int count, char **arguments)
{
    static char blob[1 << 24];
    FILE *file = count > 1 ? fopen(arguments[1], "rb") : 0;
    int64_t code = 0, bytes = file ? (int64_t)fread(blob, 1, sizeof blob, file) : 0;
    haug_model *m = haug_load(blob, bytes, &code);
    if (!m) { fprintf(stderr, "no mechanism: %s\n", haug_why(0, code)); return 1; }
    int64_t motor = haug_find(m, HAUG_INPUT, "motor"), angle = haug_find(m, HAUG_OUTPUT, "R.angle"), rate = haug_find(m, HAUG_OUTPUT, "R.rate");
    for (int k = 0; k < 200; k++) {                      /* a control step of 10 ms */
        double q, w;
        if ((code = haug_output(m, angle, &q)) || (code = haug_output(m, rate, &w))) break;
        if ((code = haug_set(m, motor, 0.4 * (1.0 - q) - 0.05 * w))) break;
        for (int64_t made = 0; made < 10 && code >= 0; made += code) code = haug_run(m, 10 - made, 0);
        if (code < 0) break;
        if (k % 40 == 39) printf("t = %.3f s, angle %.6f rad\n", haug_time(m), q);
    }
    if (code < 0) { fprintf(stderr, "%s\n", haug_why(m, code)); return 1; }
    haug_close(m);
    return 0;
}
