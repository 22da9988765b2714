#include "cmd.h"

#include <signal.h>

/* Schedulers send SIGUSR1 before they end a job: the run ends before the next task works. */
static billboard_flag stopped;

static void stop(int number) {
    (void)number;
    stopped = 1;
}

/* The second Ctrl-C ends the program at once. What the caller had ignored, as nohup does,
 * stays so. */
const billboard_flag *cmd_listen(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
    const struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++)
        if (sigaction(signals[k], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[k], &action, NULL);
    return &stopped;
}
