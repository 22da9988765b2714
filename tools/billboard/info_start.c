#include "info_start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As the shell takes it for one word. */
static void put_word(FILE *to, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_./,:=+@%-";
    if (*word && strspn(word, plain) == strlen(word)) {
        fputs(word, to);
        return;
    }
    putc('\'', to);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", to);
        else
            putc(*word, to);
    putc('\'', to);
}

/* The loss that the targets ask for, and a private method for it. */
static void put_method(FILE *to, const bb_info *info) {
    const bool binary =
        info->target == BB_TARGET_BINARY || info->target == BB_TARGET_SIGN;
    if (info->target == BB_TARGET_LABELS)
        fprintf(to, " --loss multilabel --classes %zu --method fedavg --batch 10",
                info->labels);
    else if (info->height && info->classes)
        fprintf(to,
                " --loss softmax --net conv5x16,pool2,dense%.0f --method fedavg "
                "--batch 10",
                info->most_target + 1.0);
    else
        fputs(binary ? " --loss logistic --method mp-centre" : " --method mp-prior",
              to);
}

bb_status info_start(const bb_info *info, const char *path, const info_flag *flag,
                     size_t flags, char **out) {
    char *text = NULL;
    size_t size = 0;
    if (info->target == BB_TARGET_NONE) {
        *out = NULL;
        return BB_OK;
    }
    FILE *to = open_memstream(&text, &size);
    if (!to) return bb_fail(BB_ENOMEM, "no memory for a command");
    fputs("billboard train ", to);
    put_word(to, path);
    for (size_t k = 0; k < flags; k++) {
        if (!flag[k].text) continue;
        fprintf(to, " --%s ", flag[k].name);
        put_word(to, flag[k].text);
    }
    put_method(to, info);
    if (!info->height) fputs(" --standardize unit-rows", to);
    fputs(" --epsilon 1 --train-fraction 0.7 --compare stl -o run", to);
    const bool broken = ferror(to);
    if (fclose(to) || broken) {
        free(text);
        return bb_fail(BB_ENOMEM, "no memory for a command");
    }
    *out = text;
    return BB_OK;
}
