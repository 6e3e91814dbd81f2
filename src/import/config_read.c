/* config_read.c: members of a config.json, with what can be wrong about them. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "import/config.h"

enum { COUNT_MAX = 2000000000 };

/* ---- errors -------------------------------------------------------------------------------- */

/* In the language part, or beside it where only the whole file has such a key. */
static struct span place_of(struct config *config, const char *inside, const char *key)
{
    const char *keys[5] = {0}, *first = inside ? inside : key;
    size_t count = 0;
    bool beside =
        first && !json_object_get(config->text, first) && json_object_get(config->root, first) != NULL;
    if (config->outer_key)
        keys[count++] = config->outer_key;
    if (config->text_key && !beside)
        keys[count++] = config->text_key;
    if (inside)
        keys[count++] = inside;
    if (key)
        keys[count++] = key;
    return json_place(config->json, keys);
}

struct diag *config_error(struct config *config, const char *inside, const char *key, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = arena_vprintf(config->job->arena, format, arguments);
    va_end(arguments);
    return job_error_at(config->job, DIAG_E0407, place_of(config, inside, key), "%s", text);
}

void config_missing(struct config *config, const char *key)
{
    for (size_t i = 0; i < config->missing.count; i++)
        if (strcmp(config->missing.items[i], key) == 0)
            return;
    *VEC_PUSH(config->job->arena, config->missing) = key;
}

/* ---- members ------------------------------------------------------------------------------- */

json_t *config_member(json_t *object, const char *keys, const char **found)
{
    while (*keys) {
        char key[64] = "";
        size_t length = strcspn(keys, "|");
        memcpy(key, keys, length < sizeof key ? length : sizeof key - 1);
        json_t *member = json_object_get(object, key);
        if (member && !json_is_null(member)) {
            if (found)
                *found = keys;
            return member;
        }
        keys += length + (keys[length] == '|');
    }
    return NULL;
}

static const char *first_key(struct config *config, const char *keys)
{
    return arena_strndup(config->job->arena, keys, strcspn(keys, "|"));
}

/* Sizes are integers, but some writers put a point into them (4096.0). */
static bool is_size(const json_t *member)
{
    double value = json_number_value(member);
    return json_is_number(member) && value == floor(value) && value >= 0 && value <= COUNT_MAX;
}

/* Hunyuan writes one number for each layer: if all are equal, they are one. */
static bool whole(const json_t *member, double *value)
{
    if (json_is_array(member)) {
        json_t *first = json_array_get(member, 0), *entry;
        size_t i;
        json_array_foreach(member, i,
                           entry) if (!json_is_number(entry) ||
                                      json_number_value(entry) != json_number_value(first)) return false;
        member = first;
    }
    if (!is_size(member))
        return false;
    *value = json_number_value(member);
    return true;
}

bool config_count_in(struct config *config, json_t *object, const char *inside, const char *keys,
                     double *value)
{
    const char *key;
    json_t *member = config_member(object, keys, &key);
    *value = 0;
    if (!member)
        return false;
    if (whole(member, value))
        return true;
    key = first_key(config, key);
    config_error(config, inside, key, "`%s` is not a whole number from 0 to %d", key, COUNT_MAX);
    *value = 1;
    return true;
}

bool config_count(struct config *config, const char *keys, double *value)
{
    return config_count_in(config, config->text, NULL, keys, value) ||
           config_class_default(config, keys, value);
}

double config_count_or(struct config *config, const char *keys, double usual)
{
    double value;
    return config_count(config, keys, &value) ? value : usual;
}

double config_needed_in(struct config *config, json_t *object, const char *inside, const char *keys)
{
    double value;
    if (!config_count_in(config, object, inside, keys, &value)) {
        const char *key = first_key(config, keys);
        config_missing(config, inside ? arena_printf(config->job->arena, "%s.%s", inside, key) : key);
        return 1;
    }
    if (value < 1) {
        const char *key;
        config_member(object, keys, &key);
        key = first_key(config, key);
        config_error(config, inside, key, "`%s` is 0", key);
        return 1;
    }
    return value;
}

double config_needed(struct config *config, const char *keys)
{
    double value;
    if (!config_member(config->text, keys, NULL) && config_class_default(config, keys, &value))
        return value;
    return config_needed_in(config, config->text, NULL, keys);
}

double config_size_or(struct config *config, const char *keys, double usual)
{
    return config_member(config->text, keys, NULL) ? config_needed(config, keys) : usual;
}

double config_real_in(struct config *config, json_t *object, const char *inside, const char *keys,
                      double usual, double most)
{
    const char *key;
    json_t *member = config_member(object, keys, &key);
    if (!member)
        return usual;
    double value = json_number_value(member);
    if (json_is_number(member) && value >= 0 && value <= most)
        return value;
    key = first_key(config, key);
    config_error(config, inside, key, "`%s` is not a number from 0 to %.0f", key, most);
    return usual;
}

static bool flag_of(struct config *config, json_t *object, const char *keys, bool usual)
{
    const char *key;
    json_t *member = config_member(object, keys, &key);
    if (!member)
        return usual;
    if (json_is_boolean(member))
        return json_is_true(member);
    key = first_key(config, key);
    config_error(config, NULL, key, "`%s` is neither true nor false", key);
    return usual;
}

bool config_flag_or(struct config *config, const char *keys, bool usual)
{
    return flag_of(config, config->text, keys, usual);
}

bool config_flag_either(struct config *config, const char *keys, bool usual)
{
    bool outer = config_member(config->text, keys, NULL) == NULL;
    return flag_of(config, outer ? config->root : config->text, keys, usual);
}

const char *config_word_if(struct config *config, const char *keys)
{
    return json_string_value(config_member(config->text, keys, NULL));
}

const char *config_word_in(struct config *config, json_t *object, const char *inside, const char *keys)
{
    const char *key;
    json_t *member = config_member(object, keys, &key);
    if (!member || json_is_string(member))
        return json_string_value(member);
    key = first_key(config, key);
    config_error(config, inside, key, "`%s` is not a string", key);
    return NULL;
}

const char *config_word(struct config *config, const char *keys)
{
    return config_word_in(config, config->text, NULL, keys);
}

json_t *config_object(struct config *config, const char *keys, const char **key)
{
    json_t *member = config_member(config->text, keys, key);
    if (member)
        *key = first_key(config, *key);
    if (!member || json_is_object(member))
        return member;
    config_error(config, NULL, *key, "`%s` is not an object", *key);
    return NULL;
}

/* ---- lists --------------------------------------------------------------------------------- */

static json_t *list_in(struct config *config, json_t *object, const char *inside, const char *keys,
                       const char **key)
{
    json_t *list = config_member(object, keys, key);
    if (list)
        *key = first_key(config, *key);
    if (!list || json_is_array(list))
        return list;
    config_error(config, inside, *key, "`%s` is not a list", *key);
    return NULL;
}

json_t *config_list_any(struct config *config, const char *keys)
{
    const char *key;
    return list_in(config, config->text, NULL, keys, &key);
}

json_t *config_list(struct config *config, const char *key)
{
    json_t *list = config_list_any(config, key);
    /* Layers of multi-token prediction may follow those of the model (Step-3.7). */
    size_t most = config->layers;
    if (list && json_array_size(list) > config->layers)
        most += (size_t)config_count_or(config, "num_nextn_predict_layers", 0);
    if (list && config->layers > 0 && json_array_size(list) != config->layers &&
        json_array_size(list) != most) {
        config_error(config, NULL, key, "`%s` has %zu entries for %zu layers", key, json_array_size(list),
                     config->layers);
        return NULL;
    }
    return list;
}

const size_t *config_list_of_words(struct config *config, const char *key, const char *const *words)
{
    json_t *list = config_list(config, key), *entry;
    if (!list)
        return NULL;
    size_t *kinds = ARENA_ARRAY(config->job->arena, size_t, json_array_size(list)), i;
    json_array_foreach(list, i, entry)
    {
        const char *word = json_string_value(entry);
        while (words[kinds[i]] && !(word && strcmp(word, words[kinds[i]]) == 0))
            kinds[i]++;
        if (!words[kinds[i]]) {
            config_error(config, NULL, key, "entry %zu of `%s`, `%.40s`, is not known", i, key,
                         word ? word : "?");
            return NULL;
        }
    }
    return kinds;
}

const bool *config_list_of_flags(struct config *config, const char *key)
{
    json_t *list = config_list(config, key), *entry;
    if (!list)
        return NULL;
    bool *flags = ARENA_ARRAY(config->job->arena, bool, json_array_size(list));
    size_t i;
    json_array_foreach(list, i, entry)
    {
        double value = json_is_boolean(entry) ? json_is_true(entry) : json_number_value(entry);
        if (!(json_is_boolean(entry) || json_is_number(entry)) || (value != 0 && value != 1)) {
            config_error(config, NULL, key, "entry %zu of `%s` is neither 0 nor 1", i, key);
            return NULL;
        }
        flags[i] = value != 0;
    }
    return flags;
}

bool config_list_of_layers(struct config *config, json_t *object, const char *inside, const char *keys,
                           size_t first, bool *layers, bool value)
{
    const char *key;
    if (!config_member(object, keys, NULL))
        return false;
    json_t *list = list_in(config, object, inside, keys, &key), *entry;
    size_t i;
    json_array_foreach(list, i, entry)
    {
        json_int_t layer = json_integer_value(entry);
        if (!json_is_integer(entry) || layer < (json_int_t)first) {
            config_error(config, inside, key, "entry %zu of `%s` is not the number of a layer", i, key);
            return true;
        }
        if ((size_t)layer - first < config->layers)
            layers[(size_t)layer - first] = value;
    }
    return true;
}

json_t *config_either(struct config *config, const char *key)
{
    json_t *member = config_member(config->text, key, NULL);
    return member ? member : config_member(config->root, key, NULL);
}

/* ---- parts beside the language model ------------------------------------------------------- */

/* The first of `keys` whose value is neither a size nor a list of sizes, or NULL. */
static const char *no_size(struct config *config, json_t *object, const char *keys)
{
    for (const char *at = keys; *at; at += strcspn(at, "|"), at += *at == '|') {
        const char *key = first_key(config, at);
        json_t *member = config_member(object, key, NULL), *entry;
        size_t i;
        if (member && !json_is_array(member) && !is_size(member))
            return key;
        json_array_foreach(member, i, entry) if (!is_size(entry)) return key;
    }
    return NULL;
}

json_t *config_part(struct config *config, const char *name, const char *keys)
{
    json_t *object = config_member(config->root, name, NULL);
    if (object && !json_is_object(object)) {
        config_error(config, NULL, name, "`%s` is not an object", name);
        return NULL;
    }
    const char *key = no_size(config, object, keys);
    if (!key)
        return object;
    config_error(config, name, key, "`%s` is not a whole number from 0 to %d", key, COUNT_MAX);
    return NULL;
}
