/* Prints what a program compiled against the header relies on: the number of the
 * interface, sizes of structs and where their last members are, values of enums. */
#define BILLBOARD_EXPERIMENTAL
#include <billboard/billboard.h>
#include <stdio.h>

#define STRUCT(type, last)                                                             \
    printf("struct %s %zu bytes, %s at %zu\n", #type, sizeof(type), #last,             \
           offsetof(type, last))
#define VALUE(name) printf("value %s %d\n", #name, (int)(name))

int main(void) {
    VALUE(BILLBOARD_ABI);
    VALUE(BILLBOARD_OK);
    VALUE(BILLBOARD_FAILED);
    VALUE(BILLBOARD_USAGE);
    VALUE(BILLBOARD_BUDGET);
    VALUE(BILLBOARD_INTERRUPTED);
    VALUE(BILLBOARD_FLOAT64);
    VALUE(BILLBOARD_FLOAT32);
    STRUCT(billboard_option, value);
    STRUCT(billboard_watch, stop);
    STRUCT(billboard_arrays, target_name);
    STRUCT(billboard_privacy, statement);
    STRUCT(billboard_model, parameters);
    STRUCT(billboard_models, parameters);
    STRUCT(billboard_values, note);
    VALUE(BILLBOARD_EXPERIMENTAL_WAITS);
    VALUE(BILLBOARD_EXPERIMENTAL_WORK);
    VALUE(BILLBOARD_EXPERIMENTAL_COMPLETE);
    VALUE(BILLBOARD_EXPERIMENTAL_PUBLISHED);
    VALUE(BILLBOARD_EXPERIMENTAL_DONE);
    VALUE(BILLBOARD_EXPERIMENTAL_FAILED);
    STRUCT(billboard_experimental_roster, target_name);
    STRUCT(billboard_experimental_policy, curators);
    return 0;
}
