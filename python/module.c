/* ganz._ganz: the type Engine, over engine.h. Stable ABI of Python 3.10. While C works the interpreter's lock is free;
 * it is taken back to report progress, to look for signals, and to make results. ganz/__init__.py has what users see.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

typedef struct engine_object {
    PyObject_HEAD engine engine;
    int calls;   /* under way */
    bool closed; /* the last call that ends, ends the engine */
} engine_object;

/* The error as ganz.GanzError(message, status, line). Names of files may have any bytes, and a sentence that is too
 * long ends in the middle of a letter. */
static PyObject *raise_error(const ganz_error *err)
{
    if (PyErr_Occurred()) return NULL; /* what a callback raised says more */
    PyObject *const module = PyImport_ImportModule("ganz._errors");
    PyObject *const type = module ? PyObject_GetAttrString(module, "GanzError") : NULL;
    PyObject *const text =
        type ? PyUnicode_DecodeUTF8(err->message, (Py_ssize_t)strlen(err->message), "replace") : NULL;
    PyObject *const error = text ? PyObject_CallFunction(type, "OiL", text, (int)err->status, err->line) : NULL;
    if (error) PyErr_SetObject(type, error);
    Py_XDECREF(error);
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(module);
    return NULL;
}

/* ---- a call under way --------------------------------------------------------------------------- */

typedef struct call_context {
    PyThreadState *saved;
    PyObject *progress; /* borrowed; NULL: none */
    PyObject *stop;     /* borrowed: list that is empty until the call is to end */
    size_t told;        /* done, when it was last called */
    PyObject *results;  /* borrowed: list to fill */
    bool links, scores; /* of tokens */
} call_context;

static bool tick(void *context, size_t done, size_t all)
{
    call_context *const c = context;
    PyEval_RestoreThread(c->saved);
    bool good = PyErr_CheckSignals() == 0 && PyList_Size(c->stop) == 0;
    if (good && c->progress && done != c->told) {
        PyObject *const answer = PyObject_CallFunction(c->progress, "nn", (Py_ssize_t)done, (Py_ssize_t)all);
        good = answer != NULL;
        Py_XDECREF(answer);
        c->told = done;
    }
    c->saved = PyEval_SaveThread();
    return good;
}

/* Whether the engine can be used; then it lives until call_end. */
static bool call_begin(engine_object *self, int n_best, engine_call *call)
{
    ganz_error err;
    if (self->closed) {
        PyErr_SetString(PyExc_ValueError, "the translator is closed");
        return false;
    }
    if (engine_service(&self->engine, n_best, &call->service, &err) != GANZ_OK) return raise_error(&err) != NULL;
    self->calls++;
    return true;
}

static void call_end(engine_object *self)
{
    if (--self->calls == 0 && self->closed) engine_close(&self->engine);
}

/* The text of a str or bytes object, which it belongs to. */
static bool text_of(PyObject *object, const char **text, size_t *bytes)
{
    Py_ssize_t count;
    if (PyBytes_Check(object)) {
        char *data;
        if (PyBytes_AsStringAndSize(object, &data, &count) != 0) return false;
        *text = data;
    } else if (PyUnicode_Check(object)) {
        *text = PyUnicode_AsUTF8AndSize(object, &count);
    } else {
        PyErr_Format(PyExc_TypeError, "a text is a str, not %R", (PyObject *)Py_TYPE(object));
        return false;
    }
    *bytes = (size_t)count;
    return *text != NULL;
}

static bool list_size(PyObject *list, int *count)
{
    if (!PyList_Check(list) || PyList_Size(list) > INT_MAX / 2) {
        PyErr_SetString(PyExc_TypeError, "a list of at most 2^30 texts is needed");
        return false;
    }
    *count = (int)PyList_Size(list);
    return true;
}

/* Texts of a list; the list is the caller's own, so that nothing changes it. */
static engine_text *texts_of(PyObject *list, int *count)
{
    if (!list_size(list, count)) return NULL;
    engine_text *const texts = calloc((size_t)*count + 1, sizeof *texts);
    if (!texts) PyErr_NoMemory();
    for (int i = 0; texts && i < *count; i++) {
        if (text_of(PyList_GetItem(list, i), &texts[i].text, &texts[i].bytes)) continue;
        free(texts);
        return NULL;
    }
    return texts;
}

static PyObject *make_texts(const engine_text *texts, int count, bool bytes)
{
    PyObject *const list = PyList_New(count);
    for (int i = 0; list && i < count; i++) {
        const ganz_text *const t = &texts[i].out;
        const char *const text = t->text ? t->text : "";
        PyObject *const item = bytes ? PyBytes_FromStringAndSize(text, (Py_ssize_t)t->bytes)
                                     : PyUnicode_DecodeUTF8(text, (Py_ssize_t)t->bytes, "strict");
        if (!item || PyList_SetItem(list, i, item) != 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static ganz_newlines newlines_named(const char *name)
{
    if (strcmp(name, "end") == 0) return GANZ_NEWLINE_ENDS;
    return strcmp(name, "space") == 0 ? GANZ_NEWLINE_SPACE : GANZ_NEWLINE_NEVER;
}

/* documents(texts, format, path, newlines, bilingual, bytes, progress, stop) -> list */
static PyObject *engine_object_documents(PyObject *object, PyObject *args)
{
    engine_object *const self = (engine_object *)object;
    PyObject *list, *progress, *stop, *result = NULL;
    const char *newlines;
    int bilingual, bytes, count;
    ganz_document_options o;
    ganz_document_defaults(&o);
    if (!PyArg_ParseTuple(args, "OzzsppOO!", &list, &o.format, &o.path, &newlines, &bilingual, &bytes, &progress,
                          &PyList_Type, &stop))
        return NULL;
    o.newlines = newlines_named(newlines);
    o.bilingual = bilingual != 0;
    call_context context = {.progress = progress == Py_None ? NULL : progress, .stop = stop};
    engine_call call = {.tick = tick, .context = &context};
    engine_text *const texts = texts_of(list, &count);
    if (texts && call_begin(self, 0, &call)) {
        ganz_error err = {0};
        context.saved = PyEval_SaveThread();
        const ganz_status status = engine_documents(&self->engine, &call, &o, texts, count, &err);
        PyEval_RestoreThread(context.saved);
        result = status == GANZ_OK ? make_texts(texts, count, bytes != 0) : raise_error(&err);
        call_end(self);
    }
    for (int i = 0; texts && i < count; i++) ganz_text_free(&texts[i].out);
    free(texts);
    return result;
}

/* ---- lines -------------------------------------------------------------------------------------- */

static PyObject *make_links(const ganz_translation *t)
{
    PyObject *const list = PyList_New(t->link_count);
    for (int i = 0; list && i < t->link_count; i++) {
        const ganz_link *const l = &t->links[i];
        PyObject *const item =
            Py_BuildValue("(nnnnO)", (Py_ssize_t)l->source_begin, (Py_ssize_t)l->source_end,
                          (Py_ssize_t)l->target_begin, (Py_ssize_t)l->target_end, l->weak ? Py_True : Py_False);
        if (!item || PyList_SetItem(list, i, item) != 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static PyObject *make_tokens(const ganz_translation *t)
{
    PyObject *const list = PyList_New(t->token_count);
    for (int i = 0; list && i < t->token_count; i++) {
        const ganz_token_score *const s = &t->tokens[i];
        PyObject *const item = Py_BuildValue("(nnd)", (Py_ssize_t)s->begin, (Py_ssize_t)s->end, s->score);
        if (!item || PyList_SetItem(list, i, item) != 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static PyObject *none(void)
{
    Py_INCREF(Py_None);
    return Py_None;
}

/* (text, score, links or None, tokens or None) */
static PyObject *make_translation(const ganz_translation *t, const call_context *c)
{
    PyObject *const links = c->links ? make_links(t) : none();
    PyObject *const tokens = c->scores ? make_tokens(t) : none();
    if (links && tokens) return Py_BuildValue("(s#dNN)", t->text, (Py_ssize_t)t->bytes, t->score, links, tokens);
    Py_XDECREF(links);
    Py_XDECREF(tokens);
    return NULL;
}

static PyObject *make_result(const ganz_result *result, const call_context *c)
{
    PyObject *const list = PyList_New(result->count);
    for (int i = 0; list && i < result->count; i++) {
        PyObject *const item = make_translation(&result->best[i], c);
        if (!item || PyList_SetItem(list, i, item) != 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static bool take(void *context, int first, const ganz_result *results, int count)
{
    call_context *const c = context;
    bool good = true;
    PyEval_RestoreThread(c->saved);
    for (int i = 0; i < count && good; i++) {
        PyObject *const item = make_result(&results[i], c);
        good = item && PyList_SetItem(c->results, first + i, item) == 0;
    }
    c->saved = PyEval_SaveThread();
    return good;
}

/* Lines of a list of texts and of one of prefixes (or None), whose items are texts or None. */
static ganz_line *lines_of(PyObject *list, PyObject *prefixes, const call_context *c, int *count)
{
    if (!list_size(list, count)) return NULL;
    ganz_line *const lines = calloc((size_t)*count + 1, sizeof *lines);
    bool good = lines != NULL;
    if (!good) PyErr_NoMemory();
    for (int i = 0; good && i < *count; i++) {
        PyObject *const prefix = prefixes == Py_None ? Py_None : PyList_GetItem(prefixes, i);
        lines[i].unlinked = !c->links;
        lines[i].unscored = !c->scores;
        good = prefix && text_of(PyList_GetItem(list, i), &lines[i].text, &lines[i].bytes);
        if (good && prefix != Py_None) good = text_of(prefix, &lines[i].prefix, &lines[i].prefix_bytes);
    }
    if (good) return lines;
    free(lines);
    return NULL;
}

/* lines(texts, prefixes, n_best, links, token_scores, progress, stop) -> list of lists of (text, score, links, tokens)
 */
static PyObject *engine_object_lines(PyObject *object, PyObject *args)
{
    engine_object *const self = (engine_object *)object;
    PyObject *list, *prefixes, *progress, *stop;
    int n_best, links, scores, count;
    if (!PyArg_ParseTuple(args, "OOippOO!", &list, &prefixes, &n_best, &links, &scores, &progress, &PyList_Type, &stop))
        return NULL;
    call_context context = {
        .progress = progress == Py_None ? NULL : progress, .stop = stop, .links = links != 0, .scores = scores != 0};
    ganz_line *const lines = lines_of(list, prefixes, &context, &count);
    engine_call call = {.tick = tick, .take = take, .context = &context};
    PyObject *result = lines ? PyList_New(count) : NULL;
    if (result && call_begin(self, n_best > 0 ? n_best : -1, &call)) {
        ganz_error err = {0};
        context.results = result;
        context.saved = PyEval_SaveThread();
        const ganz_status status = engine_lines(&call, lines, count, &err);
        PyEval_RestoreThread(context.saved);
        if (status != GANZ_OK) raise_error(&err);
        call_end(self);
    }
    free(lines);
    if (!PyErr_Occurred()) return result;
    Py_XDECREF(result);
    return NULL;
}

/* ---- the model ---------------------------------------------------------------------------------- */

/* facts() -> dict */
static PyObject *engine_object_facts(PyObject *object, PyObject *unused)
{
    const ganz_model_facts *const f = &((engine_object *)object)->engine.facts;
    (void)unused;
    if (((engine_object *)object)->closed) {
        PyErr_SetString(PyExc_ValueError, "the translator is closed");
        return NULL;
    }
    return Py_BuildValue("{si si si si si si si si si si si si sL si si sz sz sz ss sO}", "width", f->width, "ffn",
                         f->ffn, "heads", f->heads, "encoder_layers", f->encoder_layers, "decoder_layers",
                         f->decoder_layers, "vocabulary", f->vocabulary, "longest_input", f->longest_input,
                         "longest_output", f->longest_output, "bits", f->bits, "input_bits", f->input_bits,
                         "attention_bits", f->attention_bits, "bias_bits", f->bias_bits, "parameters", f->parameters,
                         "products", f->products, "integer_products", f->integer_products, "source_language",
                         f->source_language, "target_language", f->target_language, "command", f->command, "kind",
                         f->kind, "formality", f->formality ? Py_True : Py_False);
}

static PyObject *engine_object_close(PyObject *object, PyObject *unused)
{
    engine_object *const self = (engine_object *)object;
    (void)unused;
    if (!self->closed) {
        self->closed = true;
        if (self->calls == 0) engine_close(&self->engine);
    }
    Py_RETURN_NONE;
}

/* ---- the type ----------------------------------------------------------------------------------- */

/* Engine(path, beam, threads, alpha, max_input, max_length, glossary, formality); a beam of 0 and an alpha of -1 are
 * the model's */
static PyObject *engine_object_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *path;
    const char *glossary;
    ganz_service_options o;
    ganz_error err;
    int formality;
    (void)names;
    ganz_service_defaults(&o);
    if (!PyArg_ParseTuple(args, "O&iidiizi", PyUnicode_FSConverter, &path, &o.translator.beam, &o.workers,
                          &o.translator.alpha, &o.translator.max_input, &o.translator.max_length, &glossary,
                          &formality))
        return NULL;
    o.translator.formality = (ganz_formality)formality;
    o.translator.batch_tokens = 0;
    allocfunc const allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    engine_object *const self = (engine_object *)allocate(type, 0);
    if (!self) {
        Py_DECREF(path);
        return NULL;
    }
    const char *const name = PyBytes_AsString(path);
    PyThreadState *const saved = PyEval_SaveThread();
    const ganz_status status = engine_open(&self->engine, name, &o, glossary, &err);
    PyEval_RestoreThread(saved);
    Py_DECREF(path);
    if (status == GANZ_OK) return (PyObject *)self;
    self->closed = true;
    Py_DECREF(self);
    return raise_error(&err);
}

static void engine_object_free(PyObject *object)
{
    PyTypeObject *const type = Py_TYPE(object);
    engine_object *const self = (engine_object *)object;
    if (!self->closed) engine_close(&self->engine);
    freefunc const release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {{"documents", engine_object_documents, METH_VARARGS, NULL},
                                {"lines", engine_object_lines, METH_VARARGS, NULL},
                                {"facts", engine_object_facts, METH_NOARGS, NULL},
                                {"close", engine_object_close, METH_NOARGS, NULL},
                                {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_new, engine_object_new},
                              {Py_tp_dealloc, engine_object_free},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, "A model and its services."},
                              {0, NULL}};

static PyType_Spec spec = {
    .name = "ganz._ganz.Engine", .basicsize = sizeof(engine_object), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};

static PyObject *describe_format(PyObject *module, PyObject *args)
{
    const char *path, *bytes;
    Py_ssize_t count;
    (void)module;
    if (!PyArg_ParseTuple(args, "zs#", &path, &bytes, &count)) return NULL;
    const char *const format = ganz_document_recognise(path, bytes, (size_t)count);
    return Py_BuildValue("z", format);
}

static PyMethodDef functions[] = {{"recognise", describe_format, METH_VARARGS, "The format of a document, or None."},
                                  {NULL, NULL, 0, NULL}};

static int fill_module(PyObject *module)
{
    PyObject *const type = PyType_FromSpec(&spec);
    if (!type) return -1;
    const int status = PyModule_AddObjectRef(module, "Engine", type);
    Py_DECREF(type);
    if (status != 0) return -1;
    if (PyModule_AddStringConstant(module, "version", ganz_version()) != 0) return -1;
    return PyModule_AddStringConstant(module, "formats", ganz_document_formats());
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, fill_module}, {0, NULL}};

static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                 .m_name = "_ganz",
                                 .m_doc = "Translation by exact integers: see ganz.",
                                 .m_methods = functions,
                                 .m_slots = module_slots};

PyMODINIT_FUNC PyInit__ganz(void);
PyMODINIT_FUNC PyInit__ganz(void) { return PyModuleDef_Init(&definition); }
