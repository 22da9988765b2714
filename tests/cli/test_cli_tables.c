/* Tables as they are: other separators, missing values, and texts, from info to predict. */
#include "cli.h"

static const char options[] = "--separator ';' --categories levels.json";

/* Rows with holes, the same for every way to read them. */
static void make_table(const char *path, int from, int to) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("task;city;y;a;b\n", file);
    for (int j = from; j < to; j++) {
        const char *city = j % 3 == 0 ? "Oslo" : j % 3 == 1 ? "Bergen" : "elsewhere";
        fprintf(file, "%d;%s;%.4f;", j % 8, city, sin(j * 1.3) + (j % 3 == 0));
        if (j % 7)
            fprintf(file, "%.4f;%.4f\n", sin(j * 1.3), cos(j * 0.7));
        else
            fprintf(file, "%s;%.4f\n", j % 2 ? "NA" : "", cos(j * 0.7));
    }
    fclose(file);
    cli_write("levels.json", "{\"city\": [\"Oslo\", \"Bergen\"]}");
    cli_write("ranges.json", "{\"columns\": {\"a\": 1, \"b\": 1}}");
}

static void a_run_reads_new_rows_as_its_own(void **state) {
    (void)state;
    static const char *const how[] = {"--missing indicator", "--missing indicator:a",
                                      "--missing drop-rows"};
    make_table("train.csv", 0, 240);
    make_table("new.csv", 240, 320);
    for (int k = 0; k < 3; k++) {
        json_t *info = cli_json("info train.csv %s %s --json", options, how[k]);
        const int dropped = (int)cli_number(info, "dropped_rows");
        assert_int_equal(dropped, k == 2 ? 35 : 0);
        assert_int_equal((int)cli_number(info, "features"), 4 + (k == 0 ? 3 : k == 1));
        json_decref(info);
        cli_result r =
            cli("train train.csv --method mp-lowrank --epsilon 3 --rounds 3 %s "
                "%s --scale ranges.json --test new.csv --json -o run%d",
                options, how[k], k);
        if (r.code) fail_msg("%s", r.err);
        assert_true((strstr(r.err, "rows with a missing value") != NULL) == (k == 2));
        json_t *run = json_loads(r.out, 0, NULL);
        cli_free(&r);
        json_t *again = cli_json("evaluate run%d new.csv --json", k);
        assert_true(json_equal(cli_at(run, "test"), cli_at(again, "test")));
        assert_int_equal((int)cli_number(again, "rows_with_missing_values"),
                         k == 2 ? 11 : 0);
        json_decref(run);
        json_decref(again);
        /* as they were when it was trained, whatever lies there now */
        cli_write("levels.json", "{}");
        r = cli("predict run%d new.csv -o before.csv", k);
        assert_int_equal(r.code, 0);
        cli_free(&r);
        r = cli("export run%d --task 5 -o own%d", k, k);
        assert_int_equal(r.code, 0);
        cli_free(&r);
        r = cli("predict own%d new.csv --unknown skip -o own.csv", k);
        assert_int_equal(r.code, 0);
        cli_free(&r);
        assert_int_equal(system("grep '^5,' before.csv >five.csv; tail -n +2 own.csv | "
                                "cmp - five.csv"),
                         0);
        make_table("train.csv", 0, 240);
    }
}

/* Nothing that is said to others depends on how many rows have holes. */
static void what_is_dropped_is_the_operators(void **state) {
    (void)state;
    make_table("train.csv", 0, 240);
    cli_result r = cli("train train.csv --method mp-lowrank --epsilon 3 --rounds 3 %s "
                       "--missing drop-rows -o drop",
                       options);
    assert_true(r.code == 0 && strstr(r.err, "35 rows with a missing value"));
    cli_free(&r);
    assert_int_equal(system("grep -rqw 35 drop/public/*.json drop/public/*.txt"), 256);
}

/* Whoever has the rows is told of texts that are no level, and nobody else. */
static void texts_that_are_no_level_are_told(void **state) {
    (void)state;
    static const char words[] = "column \"sex\": 67 of 80 texts are no level of it",
                      levels[] = "--categories '{\"sex\": [\"Girl\", \"Boy\"]}'";
    FILE *f = fopen("sex.csv", "w");
    assert_non_null(f);
    fputs("task,y,x,sex\n", f);
    for (int r = 0; r < 84; r++)
        fprintf(f, "%d,%d,%d,%s\n", r % 4, r % 7, r % 5,
                r > 79       ? ""
                : r % 6 == 3 ? "Girl"
                             : "girl");
    fclose(f);
    cli_result said[] = {
        cli("train sex.csv %s --missing drop-rows --method stl -o sex", levels),
        cli("predict sex sex.csv -o sex.out"), cli("evaluate sex sex.csv"),
        cli("info sex.csv %s", levels),
        cli("convert sex.csv %s --missing drop-rows --memory 65536 -o sex.bb", levels)};
    for (int k = 0; k < 5; k++) {
        assert_int_equal(said[k].code, 0);
        assert_non_null(strstr(k < 3 ? said[k].err : said[k].out, words));
        cli_free(&said[k]);
    }
    assert_int_equal(system("grep -rqw 67 sex/public"), 256);
    /* of two one is named, and misspelt or not: the other is asked for, a third is not */
    cli_result one =
        cli("train sex.csv --categories '{\"sex\": [\"girl\"]}' --missing drop-rows "
            "--method stl -o girl");
    assert_true(one.code == 0 && !strstr(one.err, "no level of it"));
    cli_free(&one);
    one = cli("train sex.csv --categories '{\"sex\": [\"gril\"]}' --missing drop-rows "
              "--method stl -o gril");
    assert_true(one.code == 0 && strstr(one.err, "80 of 80 texts are no level of it"));
    cli_free(&one);
}

/* Columns whose names have commas are in quotes where they are listed. */
static void names_may_have_commas(void **state) {
    (void)state;
    FILE *f = fopen("comma.csv", "w");
    assert_non_null(f);
    fputs("task,\"a \"\"remark\"\", free\",x,\"y, z\"\n", f);
    for (int r = 0; r < 60; r++)
        fprintf(f, "%d,text %d,%d,%d\n", r % 2, r, r % 7, r % 5);
    fclose(f);
    static const char ignore[] = "--ignore '\"a \"\"remark\"\", free\"'";
    json_t *j = cli_json("info comma.csv --target 'y, z' --json");
    const char *start = cli_text(j, "start");
    assert_non_null(strstr(start, ignore));
    cli_result r = cli("%s", start + sizeof "billboard");
    if (r.code) fail_msg("%s", r.err);
    cli_free(&r);
    json_decref(j);
    cli_fails(1, ignore, "train comma.csv --target x --method stl -o x");
    cli_ok("train comma.csv --target x --features '\"y, z\"' --missing 'indicator:\"y, "
           "z\"' "
           "--method stl -o listed");
    cli_fails(2, "a quote that does not end a name",
              "train comma.csv --target x --ignore '\"y' --method stl -o x");
}

/* Columns that are nearly numbers, or dates, are told as such, and the command to start with
 * leaves them out, so that it works. */
static void info_says_what_texts_may_be(void **state) {
    (void)state;
    FILE *f = fopen("visits.csv", "w");
    assert_non_null(f);
    fputs("task;y;age;euro;visit;city;x\n", f);
    for (int r = 0; r < 120; r++)
        fprintf(f, "%d;%d;%d%s;%d.234,%d;2012-08-%02d;%s;%d\n", r % 4, r % 7, r,
                r % 60 == 3 ? "y" : "", r, r % 10, 1 + r % 28,
                r % 2 ? "Oslo" : "Bergen", r % 5);
    fclose(f);
    json_t *j = cli_json("info visits.csv --separator ';' --json"),
           *notes = cli_at(j, "notes");
    assert_string_equal(
        json_string_value(json_array_get(notes, 0)),
        "column \"age\": 2 of 120 cells are not a number: line 5, \"3y\"; left out "
        "until they are mended");
    assert_non_null(strstr(json_string_value(json_array_get(notes, 1)),
                           "column \"euro\": numbers with commas, decimal or of "
                           "thousands: line 2, \"0.234,0\"; no option reads them"));
    assert_non_null(
        strstr(json_string_value(json_array_get(notes, 2)),
               "column \"visit\": dates: line 2, \"2012-08-01\"; left out"));
    assert_non_null(
        strstr(cli_text(j, "start"),
               " --categories categories.json --ignore age,euro,visit --eps"));
    assert_int_equal(json_array_size(cli_at(j, "texts")), 1);
    json_decref(j);
    cli_fails(1, "visits.csv:5:3 (column \"age\"): expected a number, found \"3y\"",
              "info visits.csv --separator ';' --features age");
    cli_fails(1, "found \"0.234,0\"; numbers are read with decimal points",
              "train visits.csv --separator ';' --features euro --method stl -o x");
}

/* Names of rows that have a name themselves, and rows of an unknown task: told, and the command
 * to start with leaves the first out, but not what --features asks for. */
static void names_of_rows_are_no_feature(void **state) {
    (void)state;
    FILE *f = fopen("rownames.csv", "w");
    assert_non_null(f);
    fputs("rownames,who,y,x,z\n", f);
    for (int r = 1; r <= 60; r++)
        fprintf(f, "%d,%s,%d,%d,%d\n", r, r % 4 ? "a" : "NA", r % 7, r % 5, r % 3);
    fclose(f);
    json_t *j = cli_json("info rownames.csv --task who --target y --ignore z --json"),
           *notes = cli_at(j, "notes");
    assert_non_null(strstr(cli_text(j, "start"), " --ignore z,rownames --epsilon"));
    assert_string_equal(json_string_value(json_array_get(notes, 0)),
                        "column \"rownames\" numbers the rows, as names of rows do: no "
                        "feature, so leave it out");
    assert_non_null(strstr(json_string_value(json_array_get(notes, 1)),
                           "task \"NA\": its name says that it is missing"));
    json_decref(j);
    cli_result r = cli("info rownames.csv --task who --target y");
    assert_non_null(strstr(r.out, "features         3: rownames, x, z\n"));
    cli_free(&r);
    j = cli_json(
        "info rownames.csv --task who --target y --features rownames,x --json");
    assert_null(strstr(cli_text(j, "start"), "--ignore"));
    json_decref(j);
}

/* A part of R's table has gaps in its names of rows. */
static void names_of_rows_of_a_part(void **state) {
    (void)state;
    cli_write("part.csv", "rownames,task,y,x\n3,1,1,2\n4,1,2,3\n9,2,3,1\n12,2,1,2\n");
    json_t *j = cli_json("info part.csv --json");
    assert_non_null(strstr(cli_text(j, "start"), " --ignore rownames "));
    json_decref(j);
}

/* What is wrong is told, not the texts before it, of which info itself would be the remedy. */
static void info_tells_what_is_wrong_beside_texts(void **state) {
    (void)state;
    static const char *const table[] = {
        "task,y,x,city\n1,1,2,Oslo\n,2,3,Oslo\n",
        "task,y,x,when\n1,1,2,2012-08-01\n,2,3,2012-08-02\n"};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        cli_write("nobody.csv", table[k]);
        cli_fails(1,
                  "nobody.csv:3:1 (column \"task\"): expected a task's name, found an "
                  "empty cell",
                  "info nobody.csv");
    }
}

/* A list that is given again goes on, and nothing that was to be left out is a feature. */
static void lists_may_be_given_in_parts(void **state) {
    (void)state;
    cli_write("parts.csv",
              "task,y,a,b,c\n1,1,1,2,3\n1,2,2,1,5\n2,1,3,4,4\n2,3,1,1,9\n");
    json_t *j = cli_json("info parts.csv --ignore a --ignore c --json");
    assert_int_equal((int)cli_number(j, "features"), 1);
    assert_non_null(strstr(cli_text(j, "start"), "--ignore a,c"));
    json_decref(j);
    j = cli_json("train parts.csv --method stl --ignore a --ignore c --json -o parts1");
    assert_int_equal((int)cli_number(j, "features"), 1);
    json_decref(j);
    j = cli_json("train parts.csv --method stl --features a --features b --features c "
                 "--json -o parts3");
    assert_int_equal((int)cli_number(j, "features"), 3);
    json_decref(j);
    j = cli_json(
        "train parts.csv --method stl --compare 'stl, no-privacy' --json -o parts2");
    json_decref(j);
    j = cli_json("info parts.csv --features 'c, \"a\"' --json");
    assert_int_equal((int)cli_number(j, "features"), 2);
    json_decref(j);
    j = cli_json("advise parts.csv --ignore a --ignore b --epsilon 1 --json");
    assert_int_equal((int)cli_number(j, "features"), 1);
    json_decref(j);
}

/* Whoever the tasks are is public, so that whoever trains is told, too: what is written in two
 * ways is two tasks. */
static void odd_names_of_tasks_are_told(void **state) {
    (void)state;
    static const char *const note[] = {
        "task \"NA\": its name says that it is missing, and all such rows are one task",
        "tasks \"01\" and \"1.0\" are two, and their names are the same number (and 2 "
        "more): a task that is written in two ways is protected as two"};
    cli_write("odd.csv",
              "task,y,a\n1.0,1,1\n01,2,2\nNA,1,3\n2,2,5\n2.0,4,1\n100000,1,2\n"
              "1e+05,3,1\nb 1,4,4\n3,2,2\n");
    cli_write("even.csv", "task,y,a\n0,1,1\n1,2,2\n10,1,3\n1.5,2,5\nnone,3,2\n");
    cli_result r = cli("train odd.csv --method stl -o odd"), info = cli("info odd.csv");
    for (size_t k = 0; k < sizeof note / sizeof *note; k++) {
        assert_non_null(strstr(r.err, note[k]));
        assert_non_null(strstr(info.out, note[k]));
    }
    cli_free(&r);
    cli_free(&info);
    r = cli("train even.csv --method stl -o even"), info = cli("info even.csv");
    assert_null(strstr(r.err, "names"));
    assert_null(strstr(info.out, "are two"));
    cli_free(&r);
    cli_free(&info);
    cli_write("later.csv", "task,a\n10.0,1\n");
    cli_fails(1, "task \"10.0\" has no model; \"10\" has one, which is the same number",
              "predict even later.csv -o p");
}

/* What a target may be that is none, where there is an option for it. */
static void targets_that_are_none(void **state) {
    (void)state;
    const char *const names = "; classes may have other names: --categories "
                              "'{\"y\": [\"1\", \"2\"]}'";
    cli_write("grades.csv", "task,y,a,when\n1,1,1,2020-01-01\n1,2,2,2020-01-02\n");
    cli_fails(1, names,
              "train grades.csv --ignore when --loss logistic --method stl -o x");
    cli_fails(
        1, names,
        "train grades.csv --ignore when --loss softmax --classes 2 --method stl -o x");
    cli_ok("train grades.csv --ignore when --categories '{\"y\": [\"1\", \"2\"]}' "
           "--loss logistic --method stl -o grades");
    cli_write("plain.csv", "task,y,a\n1,0,1\n1,1,2\n");
    cli_ok("train plain.csv --loss logistic --method stl -o plain");
    cli_result r = cli("evaluate plain grades.csv --ignore when");
    assert_true(r.code == 1 && strstr(r.err, "found 2\n"));
    cli_free(&r);
    cli_fails(1, "found \"2020-01-01\"; of dates make numbers before",
              "info grades.csv --target when");
    cli_fails(2, "grades.csv: no column \"Y\" for --target",
              "info grades.csv --target Y --ignore when");
    cli_write("bare.csv", "task,a\n1,0\n");
    cli_ok("info bare.csv");
}

/* Before anything is spent. */
static void a_wrong_column_of_tasks_is_told(void **state) {
    (void)state;
    static const char words[] =
        "57 of 58 tasks have one row only: is the column of tasks (--task) an";
    FILE *f = fopen("income.csv", "w");
    assert_non_null(f);
    fputs("region,income,x\n", f);
    for (int r = 0; r < 60; r++)
        fprintf(f, "%d,%d,%d\n", r % 4, r < 3 ? 1000 : 1000 + r, r % 5);
    fclose(f);
    cli_result r =
        cli("train income.csv --task income --target region --method mp-prior "
            "--epsilon 1 --train-fraction 0.7 -o income");
    assert_true(r.code == 0 && strstr(r.err, words));
    cli_free(&r);
    assert_int_equal(system("grep -rqw 57 income/public"), 256);
    r = cli("info income.csv --task income --target region");
    assert_true(r.code == 0 && strstr(r.out, words));
    cli_free(&r);
    r = cli("info income.csv --task region --target income");
    assert_true(r.code == 0 && !strstr(r.out, "one row only"));
    cli_free(&r);
}

static void a_task_may_lose_all_its_rows(void **state) {
    (void)state;
    cli_write("holes.csv", "task,y,a\n1,1,0.5\n1,2,0.7\n2,3,\n1,2,0.1\n3,1,0.2\n");
    json_t *info = cli_json("info holes.csv --missing drop-rows --json");
    assert_int_equal((int)cli_number(info, "tasks"), 3);
    json_decref(info);
    cli_result r =
        cli("train holes.csv --missing drop-rows --method stl --json -o holes");
    json_t *run = json_loads(r.out, 0, NULL);
    if (r.code) fail_msg("%s", r.err);
    assert_int_equal((int)cli_number(run, "tasks"), 3);
    json_decref(run);
    cli_free(&r);
}

/* The public options hold the levels themselves: with the same rows, the same run. */
static void public_options_are_the_run(void **state) {
    (void)state;
    make_table("train.csv", 0, 240);
    cli_result r = cli("train train.csv --method mp-lowrank --epsilon 3 --rounds 3 %s "
                       "--missing indicator --scale ranges.json --seed 4 --json -o one",
                       options);
    if (r.code) fail_msg("%s", r.err);
    json_t *one = json_loads(r.out, 0, NULL);
    cli_free(&r);
    cli_write("levels.json", "{}");
    cli_write("ranges.json", "{}");
    r = cli("train train.csv --config one/public/options.json --seed 4 --json -o two");
    if (r.code) fail_msg("%s", r.err);
    json_t *two = json_loads(r.out, 0, NULL);
    cli_free(&r);
    assert_string_equal(cli_text(one, "models_sha256"), cli_text(two, "models_sha256"));
    json_decref(one);
    json_decref(two);
}

static void wrong_rules_are_refused(void **state) {
    (void)state;
    cli_write("euro.csv", "\"task\";\"y\";\"x\"\n1;2;3\n");
    cli_fails(
        1, "columns are separated by commas, or as --separator says: --separator ';'",
        "info euro.csv");
    cli_write("tabs.csv", "task\ty\tx\n1\t2\t3\n");
    cli_fails(1, "or as --separator says: --separator tab", "info tabs.csv");
    cli_ok("train euro.csv --separator ';' --method stl -o euro");
    cli_fails(1, "nodir/m1: cannot be created: there is no folder nodir",
              "train euro.csv --separator ';' --method stl -o nodir/m1");
    make_table("train.csv", 0, 24);
    cli_fails(2, "--separator", "train train.csv --separator '|' --method stl -o x");
    cli_fails(2, "--missing",
              "train train.csv --separator ';' --missing often --method stl -o x");
    cli_fails(
        1, "none.json",
        "train train.csv --separator ';' --categories none.json --method stl -o x");
    assert_int_equal(cli_count("x*"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_reads_new_rows_as_its_own),
        cmocka_unit_test(what_is_dropped_is_the_operators),
        cmocka_unit_test(texts_that_are_no_level_are_told),
        cmocka_unit_test(names_may_have_commas),
        cmocka_unit_test(info_says_what_texts_may_be),
        cmocka_unit_test(names_of_rows_are_no_feature),
        cmocka_unit_test(lists_may_be_given_in_parts),
        cmocka_unit_test(names_of_rows_of_a_part),
        cmocka_unit_test(info_tells_what_is_wrong_beside_texts),
        cmocka_unit_test(odd_names_of_tasks_are_told),
        cmocka_unit_test(targets_that_are_none),
        cmocka_unit_test(a_wrong_column_of_tasks_is_told),
        cmocka_unit_test(a_task_may_lose_all_its_rows),
        cmocka_unit_test(public_options_are_the_run),
        cmocka_unit_test(wrong_rules_are_refused),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
