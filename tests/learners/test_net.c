#include "learners/net.h"
#include "naive_net.h"
#include "test.h"
#include "torture.h"

#include <omp.h>

#include <pthread.h>

typedef struct sample {
    const char *layers;
    bb_image input;
    size_t batch;
} sample;

#define FEMNIST "conv5x32,pool2,conv5x64,pool2,dense62"

/* Every kind above every other it may be above; one channel and several; windows and
 * channels that divide nothing; pools on the image. */
static const sample samples[] = {
    {"dense1", {1, 1, 1}, 1},
    {"dense3", {2, 3, 2}, 4},
    {"dense9,dense5,dense2", {1, 7, 1}, 3},
    {"conv3x4,dense3", {5, 6, 1}, 2},
    {"conv2x5,conv1x3,dense2", {6, 5, 3}, 3},
    {"conv3x8,pool2,dense3", {8, 8, 1}, 3},
    {"conv3x16,pool3,pool2,dense7,dense4", {17, 16, 3}, 2},
    {"pool2,conv3x11,pool2,conv2x9,dense3", {17, 19, 2}, 5},
    {"pool3,dense2", {7, 8, 3}, 2},
    {"conv7x6,pool4,dense5", {12, 13, 16}, 2},
    {"conv5x32,pool2,conv5x64,pool2,dense62", {28, 28, 1}, 2}};
enum { SAMPLES = sizeof samples / sizeof *samples };

/* A network with a start whose biases are not zero, images, and derivatives. */
typedef struct scene {
    sample s;
    bb_net *net;
    size_t outputs, parameters;
    double *w, *x, *dz, *z, *g;
    const double **row;
} scene;

static scene scene_new(sample s, uint64_t seed) {
    scene a = {.s = s};
    assert_ok(bb_net_open(&a.net, s.layers, s.input, s.batch, 2));
    a.outputs = bb_net_outputs(a.net);
    a.parameters = bb_net_parameters(a.net);
    a.w = naive_vector(a.parameters, 0);
    assert_ok(bb_net_start(a.net, seed, a.w));
    double *more = naive_vector(a.parameters, seed + 1);
    for (size_t k = 0; k < a.parameters; k++)
        a.w[k] += (a.w[k] == 0 ? 0.3 : 0.01) * more[k];
    free(more);
    a.x = naive_vector(s.batch * naive_size(s.input), seed + 2);
    a.dz = naive_vector(s.batch * a.outputs, seed + 3);
    a.z = naive_vector(s.batch * a.outputs, 0);
    a.g = naive_vector(a.parameters, 0);
    a.row = calloc(s.batch, sizeof *a.row);
    if (!a.row) abort();
    for (size_t j = 0; j < s.batch; j++) a.row[j] = a.x + j * naive_size(s.input);
    return a;
}

static void scene_free(scene *a) {
    bb_net_close(a->net);
    free(a->w);
    free(a->x);
    free(a->dz);
    free(a->z);
    free(a->g);
    free(a->row);
}

/* z and g for the first `count` images. */
static void both(const scene *a, bb_net_lane *lane, size_t count, double *z,
                 double *g) {
    bb_net_forward(a->net, lane, a->w, count, a->row, z);
    bb_net_backward(a->net, lane, a->dz, g);
}

static void run(const scene *a, size_t count, double *z, double *g) {
    bb_net_lane *lane = bb_net_take(a->net);
    both(a, lane, count, z, g);
    bb_net_give(a->net, lane);
}

static double largest(size_t n, const double *v) {
    double most = 0;
    for (size_t k = 0; k < n; k++) most = fmax(most, fabs(v[k]));
    return most;
}

static void refuses_what_is_no_network(void **state) {
    (void)state;
    static const struct {
        const char *layers, *words;
    } bad[] = {
        {"", "layer 1 (\"\"): expected convKxC, poolK or denseC"},
        {"conv5x32,pol2,dense3",
         "layer 2 (\"pol2\"): expected convKxC, poolK or denseC"},
        {"conv5x32,,dense3", "layer 2 (\"\"): expected convKxC"},
        {"dense3,", "layer 2 (\"\"): expected convKxC"},
        {"conv5,dense3", "layer 1 (\"conv5\"): expected convKxC"},
        {"conv5x,dense3", "layer 1 (\"conv5x\"): expected convKxC"},
        {"conv5x3x2,dense3", "layer 1 (\"conv5x3x2\"): expected convKxC"},
        {"conv0x3,dense3", "layer 1 (\"conv0x3\"): expected convKxC"},
        {"conv+5x3,dense3", "layer 1 (\"conv+5x3\"): expected convKxC"},
        {"pool,dense3", "layer 1 (\"pool\"): expected convKxC"},
        {"pool2 ,dense3", "layer 1 (\"pool2 \"): expected convKxC"},
        {"dense65536", "with K and C from 1 to 65535"},
        {"dense18446744073709551617", "with K and C from 1 to 65535"},
        {"dense999999999999999999999999999999999999999999999999",
         "layer 1 (\"dense99999999999999999999999999999999999...\")"},
        {"conv5x2,conv25x2,dense3",
         "layer 2 (\"conv25x2\"): expected K at most as large as the image there, 24 x "
         "24, found 25"},
        {"conv5x2,pool2,pool13,dense2", "layer 3 (\"pool13\"): expected K at most as "
                                        "large as the image there, 12 x 12, "
                                        "found 13"},
        {"dense4,pool1,dense2",
         "layer 2 (\"pool1\"): expected dense, since layer 1 is"},
        {"dense4,conv1x2", "layer 2 (\"conv1x2\"): expected dense, since layer 1 is"},
        {"conv5x32,pool2", "layer 2 (\"pool2\"): expected denseC as the last layer"},
        {"conv5x2", "layer 1 (\"conv5x2\"): expected denseC as the last layer"},
        {"dense65535,dense65535",
         "layer 2 (\"dense65535\"): expected at most 268435456 "
         "weights, found more"},
        {"conv1x65535,dense1",
         "layer 1 (\"conv1x65535\"): expected at most 268435456 "
         "numbers for a batch, found 10 images of 28 x 28 x 65535"},
        {"dense1,dense1,dense1,dense1,dense1,dense1,dense1,dense1,dense1,dense1,dense1,"
         "dense1,dense1,dense1,dense1,dense1,dense1,dense1,dense1,dense1,dense1,dense1,"
         "dense1,dense1,dense1,dense1,dense1,dense1,dense1,dense1,dense1,dense1,dense1",
         "expected at most 32 layers, found more"}};
    const bb_image image = {28, 28, 1};
    bb_net *const before = (bb_net *)(void *)&state, *net = before;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_fails(bb_net_open(&net, bad[k].layers, image, 10, 1), BB_EUSAGE,
                     bad[k].words);
    static const bb_image images[] = {
        {0, 28, 1}, {28, 0, 1}, {28, 28, 0}, {SIZE_MAX, 2, 1}, {1 << 14, 1 << 14, 1}};
    for (size_t k = 0; k < sizeof images / sizeof *images; k++)
        assert_fails(bb_net_open(&net, "dense2", images[k], 10, 1), BB_EUSAGE,
                     "network: expected a batch of 1 or more images");
    assert_fails(bb_net_open(&net, "conv4x2,dense2", (bb_image){9, 3, 1}, 1, 1),
                 BB_EUSAGE, "the image there, 9 x 3, found 4");
    assert_fails(bb_net_open(&net, "pool4,dense2", (bb_image){3, 9, 1}, 1, 1),
                 BB_EUSAGE, "the image there, 3 x 9, found 4");
    assert_fails(bb_net_open(&net, "dense2", image, 0, 1), BB_EUSAGE, "found 0 images");
    assert_fails(bb_net_open(&net, "dense2", image, 10, 0), BB_EUSAGE, "lanes");
    assert_ptr_equal(net, before);
}

/* 115,646: 5*5*32+32 + 5*5*32*64+64 + 4*4*64*62+62, the network of the PMTL paper's
 * code for FEMNIST. */
static void counts_parameters(void **state) {
    (void)state;
    bb_net *net = NULL;
    assert_ok(bb_net_open(&net, FEMNIST, (bb_image){28, 28, 1}, 10, 1));
    assert_int_equal(bb_net_inputs(net), 784);
    assert_int_equal(bb_net_outputs(net), 62);
    assert_int_equal(bb_net_parameters(net), 115646);
    assert_int_equal(bb_net_batch(net), 10);
    bb_net_close(net);
    assert_ok(bb_net_open(&net,
                          "conv3x32,pool2,conv3x32,pool2,conv3x32,pool2,conv3x32,pool2,"
                          "dense2",
                          (bb_image){84, 84, 3}, 3, 1));
    assert_int_equal(bb_net_parameters(net),
                     3 * 9 * 32 + 3 * 9 * 32 * 32 + 4 * 32 + 3 * 3 * 32 * 2 + 2);
    bb_net_close(net);
    bb_net_close(NULL);
}

/* Every batch as a whole and one image less, against the plain twin in double; relative
 * to the largest. */
static void agrees_with_its_twin(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        scene a = scene_new(samples[i], 7 + i);
        naive_net twin = naive_net_new(a.s.layers, a.s.input);
        assert_int_equal(twin.parameters, a.parameters);
        double *z = naive_vector(a.s.batch * a.outputs, 0);
        for (size_t count = a.s.batch; count > 0 && count + 2 > a.s.batch; count--) {
            double *g = naive_vector(a.parameters, 0);
            memset(g, 0, a.parameters * sizeof *g);
            run(&a, count, a.z, a.g);
            for (size_t j = 0; j < count; j++) {
                naive_net_forward(&twin, a.w, a.row[j], z + j * a.outputs);
                naive_net_backward(&twin, a.w, a.row[j], a.dz + j * a.outputs, g);
            }
            const size_t n = count * a.outputs;
            assert_close(naive_largest_difference(n, a.z, z) / largest(n, z), 0, 1e-5);
            assert_true(largest(a.parameters, g) > 0);
            for (size_t l = 0; l < twin.layers; l++) {
                const size_t first = twin.layer[l].first;
                const size_t m =
                    (l + 1 < twin.layers ? twin.layer[l + 1].first : a.parameters) -
                    first;
                const double most = largest(m, g + first);
                assert_close(naive_largest_difference(m, a.g + first, g + first), 0,
                             1e-5 * most);
            }
            free(g);
        }
        free(z);
        naive_net_free(&twin);
        scene_free(&a);
    }
}

/* An image of one colour: all values of a window are equal. */
static void of_equal_values_one_counts(void **state) {
    (void)state;
    const sample s = {"conv3x8,pool2,conv2x5,pool3,dense3", {12, 12, 1}, 1};
    scene a = scene_new(s, 8);
    naive_net twin = naive_net_new(s.layers, s.input);
    double *g = naive_vector(a.parameters, 0);
    memset(g, 0, a.parameters * sizeof *g);
    for (size_t k = 0; k < naive_size(s.input); k++) a.x[k] = 0.7;
    run(&a, 1, a.z, a.g);
    naive_net_forward(&twin, a.w, a.x, a.z);
    naive_net_backward(&twin, a.w, a.x, a.dz, g);
    assert_true(largest(8 * 9, g) > 0);
    assert_close(naive_largest_difference(a.parameters, a.g, g), 0,
                 1e-5 * largest(a.parameters, g));
    free(g);
    naive_net_free(&twin);
    scene_free(&a);
}

/* sum_j dz_j . outputs_j of the twin, at w + h * direction */
static double objective(const scene *a, naive_net *twin, const double *direction,
                        double h) {
    double *w = naive_vector(a->parameters, 0), *z = naive_vector(a->outputs, 0),
           sum = 0;
    for (size_t k = 0; k < a->parameters; k++) w[k] = a->w[k] + h * direction[k];
    for (size_t j = 0; j < a->s.batch; j++) {
        naive_net_forward(twin, w, a->row[j], z);
        sum += naive_dot(a->outputs, z, a->dz + j * a->outputs);
    }
    free(w);
    free(z);
    return sum;
}

/* Central differences of the twin's outputs, which are in double: along one random
 * direction, and along parameters of every layer. */
static void has_the_gradient_of_finite_differences(void **state) {
    (void)state;
    const double h = 1e-6;
    for (size_t i = 0; i + 1 < SAMPLES; i++) {
        scene a = scene_new(samples[i], 100 + i);
        naive_net twin = naive_net_new(a.s.layers, a.s.input);
        double *direction = naive_vector(a.parameters, 5 + i);
        run(&a, a.s.batch, a.z, a.g);
        const double slope =
            (objective(&a, &twin, direction, h) - objective(&a, &twin, direction, -h)) /
            (2 * h);
        const double size = sqrt(naive_dot(a.parameters, a.g, a.g) *
                                 naive_dot(a.parameters, direction, direction));
        assert_close(naive_dot(a.parameters, a.g, direction), slope, 1e-5 * size);
        for (size_t k = 0; k < a.parameters; k += 1 + a.parameters / 41) {
            memset(direction, 0, a.parameters * sizeof *direction);
            direction[k] = 1;
            const double one = (objective(&a, &twin, direction, h) -
                                objective(&a, &twin, direction, -h)) /
                               (2 * h);
            assert_close(a.g[k], one, 1e-5 * largest(a.parameters, a.g));
        }
        free(direction);
        naive_net_free(&twin);
        scene_free(&a);
    }
}

/* What is there of a batch gives what it gives in a whole one, bit for bit, whatever
 * the lane has done before: here the last image had no finite outputs. */
static void part_of_a_batch_is_as_in_a_whole(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        scene a = scene_new(samples[i], 200 + i);
        const size_t n = a.s.batch, part = n - n / 2;
        double *z = naive_vector(n * a.outputs, 0), *g = naive_vector(a.parameters, 0);
        run(&a, n, a.z, a.g);
        double *last = &a.x[n * naive_size(a.s.input) - 1], kept = *last;
        *last = INFINITY;
        run(&a, n, z, g);
        *last = kept;
        run(&a, part, z, g);
        assert_memory_equal(z, a.z, part * a.outputs * sizeof *z);
        memset(a.dz + part * a.outputs, 0, (n - part) * a.outputs * sizeof *a.dz);
        run(&a, n, a.z, a.g);
        for (size_t k = 0; k < a.parameters; k++) assert_true(g[k] == a.g[k]);
        run(&a, 0, z, g);
        assert_true(largest(a.parameters, g) == 0);
        free(z);
        free(g);
        scene_free(&a);
    }
}

typedef struct job {
    const scene *scene;
    double *z, *g;
} job;

static void *work(void *context) {
    const job *j = context;
    for (int k = 0; k < 20; k++) run(j->scene, j->scene->s.batch, j->z, j->g);
    return NULL;
}

static void same_bits_in_any_lane_and_thread(void **state) {
    (void)state;
    for (size_t i = 5; i < SAMPLES; i++) {
        scene a = scene_new(samples[i], 300 + i);
        const size_t n = a.s.batch * a.outputs;
        bb_net_lane *first = bb_net_take(a.net), *second = bb_net_take(a.net);
        assert_ptr_not_equal(first, second);
        bb_net_give(a.net, first);
        assert_ptr_equal(bb_net_take(a.net), first);
        bb_net_give(a.net, second);
        both(&a, first, a.s.batch, a.z, a.g);
        bb_net_give(a.net, first);
        job jobs[2];
        pthread_t thread[2];
        for (int k = 0; k < 2; k++) {
            jobs[k] = (job){&a, naive_vector(n, 0), naive_vector(a.parameters, 0)};
            assert_int_equal(pthread_create(&thread[k], NULL, work, &jobs[k]), 0);
        }
        for (int k = 0; k < 2; k++) {
            assert_int_equal(pthread_join(thread[k], NULL), 0);
            assert_memory_equal(jobs[k].z, a.z, n * sizeof *a.z);
            assert_memory_equal(jobs[k].g, a.g, a.parameters * sizeof *a.g);
            free(jobs[k].z);
            free(jobs[k].g);
        }
        scene_free(&a);
    }
}

/* With many threads asked for, which oneDNN would take, and on two threads of OpenMP:
 * the same bits, and the setting is still there. */
static void leaves_openmp_alone(void **state) {
    (void)state;
    const sample s = {FEMNIST, {28, 28, 1}, 10};
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    scene a = scene_new(s, 9);
    run(&a, 10, a.z, a.g);
    omp_set_num_threads(5);
    scene b = scene_new(s, 9);
    run(&b, 10, b.z, b.g);
    assert_int_equal(omp_get_max_threads(), 5);
    assert_memory_equal(a.z, b.z, 10 * a.outputs * sizeof *a.z);
    assert_memory_equal(a.g, b.g, a.parameters * sizeof *a.g);
    memset(b.g, 0, b.parameters * sizeof *b.g);
    run(&a, 10, b.z, b.g);
    assert_memory_equal(a.g, b.g, a.parameters * sizeof *a.g);
    const scene *const both_scenes[] = {&a, &b};
    int kept[2] = {0, 0};
    for (int k = 0; k < 2; k++)
        memset(both_scenes[k]->z, 0, 10 * a.outputs * sizeof *a.z);
#pragma omp parallel for num_threads(2) schedule(static, 1)
    for (int k = 0; k < 2; k++) {
        const int there = omp_get_max_threads();
        run(&a, 10, both_scenes[k]->z, both_scenes[k]->g);
        kept[k] = omp_get_max_threads() == there;
    }
    assert_true(kept[0] && kept[1] && omp_get_max_threads() == 5);
    assert_true(largest(10 * a.outputs, a.z) > 0);
    assert_memory_equal(a.z, b.z, 10 * a.outputs * sizeof *a.z);
    assert_memory_equal(a.g, b.g, a.parameters * sizeof *a.g);
    omp_set_num_threads(before);
    scene_free(&a);
    scene_free(&b);
}

static void starts_within_bounds(void **state) {
    (void)state;
    static const struct {
        size_t weights, biases, inputs;
        double six;
    } part[] = {{800, 32, 25, 6}, {51200, 64, 800, 6}, {63488, 62, 1024, 1}};
    scene a = scene_new((sample){FEMNIST, {28, 28, 1}, 1}, 1);
    double *other = naive_vector(a.parameters, 0);
    assert_ok(bb_net_start(a.net, 11, a.w));
    assert_ok(bb_net_start(a.net, 11, a.g));
    assert_ok(bb_net_start(a.net, 12, other));
    assert_memory_equal(a.w, a.g, a.parameters * sizeof *a.w);
    const double *w = a.w;
    for (size_t l = 0; l < 3; l++) {
        const double bound = sqrt(part[l].six / (double)part[l].inputs);
        double sum = 0, squares = 0;
        const double n = (double)part[l].weights;
        for (size_t k = 0; k < part[l].weights; k++) {
            assert_true(fabs(w[k]) <= bound);
            sum += w[k] / bound;
            squares += w[k] / bound * w[k] / bound;
        }
        /* Seven deviations of a uniform law: 1e-11 for a seed. */
        assert_close(sum / n, 0, 7 * sqrt(1 / (3 * n)));
        assert_close(squares / n, 1.0 / 3, 7 * sqrt(4 / (45 * n)));
        w += part[l].weights;
        for (size_t k = 0; k < part[l].biases; k++) assert_true(*w++ == 0);
    }
    size_t same = 0;
    for (size_t k = 0; k < a.parameters; k++) same += other[k] == a.w[k];
    assert_int_equal(same, 158); /* the biases */
    free(other);
    scene_free(&a);
}

static bb_status opens(void *context) {
    bb_net **net = context;
    const bb_status status =
        bb_net_open(net, "conv3x4,pool2,dense3,dense2", (bb_image){6, 6, 2}, 2, 2);
    if (!status) bb_net_close(*net);
    return status;
}

static void survives_failing_allocations(void **state) {
    (void)state;
    bb_net *net = NULL;
    assert_true(torture_memory((bb_torture){.attempt = opens, .context = &net}) > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_no_network),
        cmocka_unit_test(counts_parameters),
        cmocka_unit_test(agrees_with_its_twin),
        cmocka_unit_test(of_equal_values_one_counts),
        cmocka_unit_test(has_the_gradient_of_finite_differences),
        cmocka_unit_test(part_of_a_batch_is_as_in_a_whole),
        cmocka_unit_test(same_bits_in_any_lane_and_thread),
        cmocka_unit_test(leaves_openmp_alone),
        cmocka_unit_test(starts_within_bounds),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
