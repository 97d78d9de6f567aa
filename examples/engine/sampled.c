/* A mechanism without Python, with a sampled block: the program is called at its times, and the block holds what it says.  docs/engine.md */
#include <stdio.h>
#include <stdlib.h>
#include "haugmbd.h"

int main(int count, char **arguments)
{
    static char blob[1 << 24];
    FILE *file = count > 1 ? fopen(arguments[1], "rb") : 0;
    int64_t code = 0, bytes = file ? (int64_t)fread(blob, 1, sizeof blob, file) : 0, law;
    haug_model *m = haug_load(blob, bytes, &code);
    if (!m) { fprintf(stderr, "no mechanism: %s\n", haug_why(0, code)); return 1; }
    int64_t angle = haug_find(m, HAUG_OUTPUT, "pin.angle"), rate = haug_find(m, HAUG_OUTPUT, "pin.rate");
    int calls = 0;
    for (int64_t made = 0; made < 1000 && code >= 0; made += code) {
        while ((law = haug_due(m)) >= 0 && code >= 0) {
            double q, w;
            if ((code = haug_output(m, angle, &q)) || (code = haug_output(m, rate, &w))) break;
            code = haug_hold(m, law, -2.0 * q - 0.1 * w);
            calls++;
        }
        if (code >= 0) code = haug_run(m, 1000 - made, 0);
    }
    if (code < 0) { fprintf(stderr, "%s\n", haug_why(m, code)); return 1; }
    printf("t = %.3f s, %d calls, at %.12f %.12f %.12f m\n", haug_time(m), calls, haug_state(m)[0], haug_state(m)[1], haug_state(m)[2]);
    haug_close(m);
    return 0;
}
