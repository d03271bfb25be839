/*
 * test_buffer.c - bytes that grow at their end
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include <string.h>

#include "cli/buffer.h"

static void
expect(pawl_buffer *buffer, const char *text)
{
    assert_int_equal(buffer->size, strlen(text));
    assert_true(buffer->size <= buffer->room);
    assert_memory_equal(buffer->data, text, buffer->size);
    pawl__buffer_done(buffer);
    assert_null(buffer->data);
    assert_int_equal(buffer->room, 0);
}

static void
it_grows(void **state)
{
    pawl_buffer buffer = {0};
    GString *same = g_string_new(NULL);

    (void) state;
    pawl__buffer_add(&buffer, NULL, 0);
    for (int i = 0; i < 3000; i++) {
        pawl__buffer_add_text(&buffer, "abc");
        pawl__buffer_add_byte(&buffer, (char) ('0' + i % 10));
        g_string_append_printf(same, "abc%d", i % 10);
    }
    expect(&buffer, same->str);
    g_string_free(same, TRUE);
}

static void
numbers_are_exact(void **state)
{
    static const int64_t numbers[] = {0, 7, -7, 10, 1000000, INT64_MAX, INT64_MIN, (INT64_C(1) << 53) + 1};

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        pawl_buffer buffer = {0};
        char *text = g_strdup_printf("%" G_GINT64_FORMAT, numbers[i]);

        pawl__buffer_add_number(&buffer, numbers[i]);
        expect(&buffer, text);
        g_free(text);
    }
}

static void
strings_of_json(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *json;
    } cases[] = {
        {"", 0, "\"\""},
        {"flights", 7, "\"flights\""},
        {"\"\\/", 3, "\"\\\"\\\\/\""},
        {"\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\""},
        {"\0\1\37 \177", 5, "\"\\u0000\\u0001\\u001f \177\""},
        {"a\nb\n", 4, "\"a\\nb\\n\""},
        {"\303\244\342\202\254", 5, "\"\303\244\342\202\254\""},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        pawl_buffer buffer = {0};

        pawl__buffer_add_json(&buffer, cases[i].bytes, cases[i].size);
        expect(&buffer, cases[i].json);
    }
}

static void
base64_of_any_length(void **state)
{
    unsigned char bytes[200];

    (void) state;
    for (size_t size = 0; size <= sizeof bytes; size++) {
        pawl_buffer buffer = {0};
        char *same;

        if (size > 0)
            bytes[size - 1] = (unsigned char) (size * 37);
        same = g_base64_encode(bytes, size);
        pawl__buffer_add_base64(&buffer, bytes, size);
        expect(&buffer, same);
        g_free(same);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_grows),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(strings_of_json),
        cmocka_unit_test(base64_of_any_length),
    };

    return cmocka_run_group_tests_name("buffer", tests, NULL, NULL);
}
