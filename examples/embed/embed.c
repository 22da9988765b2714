/* Billboard inside another program. */
#include <billboard/billboard.h>
#include <stdio.h>

int main(void) {
    const billboard_option plan[] = {
        {"rounds", "100"}, {"tasks", "1000"}, {"epsilon", "1"}};
    billboard_answer *price;
    if (billboard_account(plan, 3, NULL, &price)) {
        fprintf(stderr, "%s\n", billboard_error());
        return 1;
    }
    printf("epsilon = %g needs noise of %g times the clip\n",
           billboard_answer_number(price, "epsilon"),
           billboard_answer_number(price, "noise_multiplier"));
    billboard_answer_free(price);
    return 0;
}
