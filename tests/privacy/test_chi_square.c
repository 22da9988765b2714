/* The chi^2 distribution against SciPy 1.17. */
#include "privacy/accounting/chi_square.h"
#include "test.h"

static void probabilities(void **state) {
    (void)state;
    const struct {
        double freedom, x, below, above;
    } row[] = {{1.0, 0.001, 0.02522712063003961, 0.9747728793699604},
               {4.0, 13.2767, 0.9899999820274282, 0.010000017972571747},
               {30.0, 5.0, 6.915313866992873e-08, 0.9999999308468613},
               {30.0, 90.0, 0.9999999343267318, 6.56732682000148e-08},
               {3000.0, 3300.0, 0.9999148615029272, 8.51384970727166e-05},
               {2.0, 700.0, 1.0, 9.929590396265143e-153}};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        double below, above;
        bb_chi_square(row[k].freedom, row[k].x, &below, &above);
        assert_relative(below, row[k].below, 1e-11);
        assert_relative(above, row[k].above, 1e-11);
    }
    double below, above;
    bb_chi_square(3.0, 0.0, &below, &above);
    assert_true(below == 0.0 && above == 1.0);
    bb_chi_square(3.0, INFINITY, &below, &above);
    assert_true(below == 1.0 && above == 0.0);
}

static void quantiles(void **state) {
    (void)state;
    assert_relative(bb_chi_square_quantile(4.0, 0.01), 13.276704135987625, 1e-11);
    assert_relative(bb_chi_square_quantile(4.0, 0.01 / 3.0), 15.777091901407582, 1e-11);
    assert_relative(bb_chi_square_quantile(15.0, 0.001), 37.69729821835383, 1e-11);
    assert_relative(bb_chi_square_quantile(500.0, 0.01 / 12.0), 605.3730250728156,
                    1e-11);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probabilities),
        cmocka_unit_test(quantiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
