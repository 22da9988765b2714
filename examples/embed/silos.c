/* Two hospitals and a curator, a process each, behind sockets: no row leaves its process.
 * Every process of a real federation would be a program of its own, with its half of
 * this one. */
#define BILLBOARD_EXPERIMENTAL
#include <billboard/billboard.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SILOS = 2, CLINICS = 100, PATIENTS = 10, FEATURES = 2 };

static void must(billboard_status status) {
    if (!status) return;
    fprintf(stderr, "%s\n", billboard_error());
    exit(status);
}

/* -- carrying frames: their length, then their bytes -- */

static int carry(ssize_t (*step)(int, void *, size_t), int file, void *at,
                 size_t size) {
    for (char *c = at; size;) {
        const ssize_t done = step(file, c, size);
        if (done <= 0) return 0;
        c += done;
        size -= (size_t)done;
    }
    return 1;
}

static ssize_t out(int file, void *at, size_t size) {
    return send(file, at, size, MSG_NOSIGNAL);
}

static int give(int file, const void *frame, size_t size) {
    return carry(out, file, &size, sizeof size) &&
           carry(out, file, (void *)(uintptr_t)frame, size);
}

/* To be freed with free. */
static void *receive(int file, size_t *size) {
    if (!carry(read, file, size, sizeof *size)) return NULL;
    void *frame = malloc(*size + 1);
    if (frame && carry(read, file, frame, *size)) return frame;
    free(frame);
    return NULL;
}

/* -- what all have agreed on -- */

static int64_t clinic[CLINICS];

static billboard_job *agreed_job(void) {
    billboard_job *job;
    must(billboard_job_new(&job));
    must(billboard_job_set(job, "method", "fedprox"));
    must(billboard_job_set(job, "epsilon", "2"));
    return job;
}

static billboard_experimental_roster agreed_roster(void) {
    for (int i = 0; i < CLINICS; i++) clinic[i] = i;
    return (billboard_experimental_roster){.struct_size =
                                               sizeof(billboard_experimental_roster),
                                           .tasks = CLINICS,
                                           .task_number = clinic,
                                           .features = FEATURES,
                                           .silos = SILOS};
}

/* -- a hospital -- */

/* Every second clinic; each has a line of its own, near a common one. */
static billboard_data *own_rows(uint32_t number) {
    enum { ROWS = CLINICS / SILOS * PATIENTS };
    static int64_t task[ROWS];
    static double x[ROWS][FEATURES], y[ROWS];
    billboard_arrays arrays = {.struct_size = sizeof arrays,
                               .rows = ROWS,
                               .features = FEATURES,
                               .task_number = task,
                               .x = x,
                               .y = y};
    billboard_data *data;
    srand(number);
    for (int r = 0; r < ROWS; r++) {
        task[r] = r / PATIENTS * SILOS + (int64_t)number - 1;
        for (int k = 0; k < FEATURES; k++) x[r][k] = rand() / (RAND_MAX + 1.0) - 0.5;
        y[r] =
            0.8 * x[r][0] - 0.4 * x[r][1] + 0.1 * (double)(task[r] % 7 - 3) * x[r][0];
    }
    must(billboard_data_from_arrays(&arrays, &data));
    return data;
}

static void hospital(uint32_t number, int file) {
    const billboard_experimental_roster roster = agreed_roster();
    const billboard_experimental_policy policy = {
        .struct_size = sizeof policy, .most_epsilon = 2, .fewest_tasks = CLINICS};
    billboard_job *job = agreed_job();
    billboard_data *data = own_rows(number);
    billboard_experimental_silo *silo;
    billboard_result *result;
    size_t size;
    must(billboard_experimental_silo_open(job, &roster, number, data, &policy, NULL,
                                          &silo));
    while (billboard_experimental_silo_state(silo) != BILLBOARD_EXPERIMENTAL_DONE) {
        void *frame = receive(file, &size);
        const void *answer;
        if (!frame) exit(BILLBOARD_FAILED);
        must(billboard_experimental_silo_take(silo, frame, size));
        free(frame);
        if (billboard_experimental_silo_state(silo) == BILLBOARD_EXPERIMENTAL_WORK)
            must(billboard_experimental_silo_work(silo));
        must(billboard_experimental_silo_give(silo, &answer, &size));
        if (answer && !give(file, answer, size)) exit(BILLBOARD_FAILED);
        billboard_experimental_silo_gave(silo);
    }
    must(billboard_experimental_silo_result(silo, &result));
    printf("hospital %d has models of %zu clinics, nMSE %.2f\n", (int)number,
           billboard_result_tasks(result),
           billboard_answer_number(billboard_result_answer(result), "train.nmse"));
    billboard_result_free(result);
    billboard_experimental_silo_free(silo);
    billboard_data_free(data);
    billboard_job_free(job);
}

/* -- the curator -- */

/* What every silo is due, then what those answer that were asked something. */
static void exchange(billboard_experimental_curator *curator, const int *file) {
    const void *frame;
    size_t size;
    for (uint32_t s = 0; s < SILOS; s++)
        for (;;) {
            must(billboard_experimental_curator_give(curator, s + 1, &frame, &size));
            if (!frame) break;
            if (!give(file[s], frame, size)) exit(BILLBOARD_FAILED);
        }
    for (uint32_t s = 0; s < SILOS; s++) {
        if (billboard_experimental_curator_state(curator) !=
            BILLBOARD_EXPERIMENTAL_WAITS)
            return;
        void *answer = receive(file[s], &size);
        if (!answer) exit(BILLBOARD_FAILED);
        must(billboard_experimental_curator_take(curator, answer, size));
        free(answer);
    }
}

static void conduct(const int *file) {
    const billboard_experimental_roster roster = agreed_roster();
    billboard_job *job = agreed_job();
    billboard_experimental_curator *curator;
    billboard_result *result;
    must(billboard_experimental_curator_open(job, &roster, NULL, &curator));
    for (;;) {
        exchange(curator, file);
        switch (billboard_experimental_curator_state(curator)) {
        case BILLBOARD_EXPERIMENTAL_COMPLETE:
            must(billboard_experimental_curator_close_round(curator));
            continue;
        case BILLBOARD_EXPERIMENTAL_PUBLISHED:
            must(billboard_experimental_curator_go_on(curator));
            continue;
        default:
            break;
        }
        break;
    }
    must(billboard_experimental_curator_result(curator, &result));
    fputs(billboard_result_text(result), stdout);
    billboard_result_free(result);
    billboard_experimental_curator_free(curator);
    billboard_job_free(job);
}

int main(void) {
    int file[SILOS], failed = 0, status;
    for (uint32_t s = 0; s < SILOS; s++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 1;
        const pid_t child = fork();
        if (child < 0) return 1;
        if (child == 0) {
            close(pair[0]);
            hospital(s + 1, pair[1]);
            return 0;
        }
        close(pair[1]);
        file[s] = pair[0];
    }
    conduct(file);
    for (uint32_t s = 0; s < SILOS; s++) failed |= wait(&status) < 0 || status;
    return failed;
}
