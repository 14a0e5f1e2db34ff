#!/usr/bin/env python3
"""Trains, predicts, saves and loads from Python with ctypes alone: no compiler, no numpy.

    fit_iris.py [FILE [METHOD [PARAMETER=VALUE]...]]

FILE is a CSV file of numbers whose last column is the class; the first line has the names. The
library is libdiscern.so.0, or the file that DISCERN_LIBRARY names. The structs below repeat
those of discern/status.h, discern/simple.h, discern/table.h and discern/model.h.
"""
import csv
import ctypes as c
import os
import sys
import tempfile

lib = c.CDLL(os.environ.get("DISCERN_LIBRARY", "libdiscern.so.0"))


class Error(c.Structure):  # dn_error
    _fields_ = [("code", c.c_int), ("message", c.c_char * 512), ("row", c.c_int64),
                ("field", c.c_char * 128)]


class Array(c.Structure):  # dn_array
    _fields_ = [("values", c.c_void_p), ("type", c.c_int), ("n_rows", c.c_size_t),
                ("n_cols", c.c_size_t), ("row_stride", c.c_size_t), ("col_stride", c.c_size_t)]


class Prediction(c.Structure):  # dn_prediction
    _fields_ = [("struct_size", c.c_size_t), ("label", c.POINTER(c.c_size_t)),
                ("probabilities", c.POINTER(c.c_double))] + [
        (name, c.c_void_p) for name in ("scores", "candidates", "distance", "contributions",
                                        "log_density", "out_of_support",
                                        "class_log_density", "posterior")] + [
        ("labels", c.c_int), ("rule", c.c_void_p), ("set", c.c_void_p)]


class Strings(c.Structure):  # dn_strings
    _fields_ = [("n", c.c_size_t), ("start", c.POINTER(c.c_uint32)), ("bytes", c.POINTER(c.c_char))]


class Classes(c.Structure):  # dn_classes
    _fields_ = [("type", c.c_int), ("n", c.c_size_t), ("number", c.POINTER(c.c_double)),
                ("names", Strings)]


READ = c.CFUNCTYPE(c.c_ssize_t, c.c_void_p, c.POINTER(c.c_char), c.c_size_t)
WRITE = c.CFUNCTYPE(c.c_ssize_t, c.c_void_p, c.POINTER(c.c_char), c.c_size_t)
MODEL = c.c_void_p

lib.dn_version.restype = c.c_char_p
lib.dn_status_name.restype = c.c_char_p
lib.dn_error_clear.argtypes = [c.POINTER(Error)]
lib.dn_fit_strings.argtypes = [c.POINTER(c.c_double), c.c_size_t, c.c_size_t, c.POINTER(c.c_char_p),
                               c.c_char_p, c.c_char_p, c.c_void_p, c.POINTER(MODEL),
                               c.POINTER(Error)]
lib.dn_model_predict_rows.argtypes = [MODEL, c.POINTER(Array), c.POINTER(Prediction), c.c_void_p,
                                      c.POINTER(Error)]
lib.dn_model_save.argtypes = [MODEL, WRITE, c.c_void_p, c.POINTER(Error)]
lib.dn_model_load.argtypes = [READ, c.c_void_p, c.POINTER(MODEL), c.POINTER(Error)]
lib.dn_model_has_probabilities.argtypes = [MODEL]
lib.dn_model_has_probabilities.restype = c.c_bool
lib.dn_model_classes.argtypes = [MODEL]
lib.dn_model_classes.restype = c.POINTER(Classes)
lib.dn_model_unref.argtypes = [MODEL]
lib.dn_model_unref.restype = None


def call(function, *arguments):
    """Calls a function whose last argument is a dn_error; raises an exception if it fails."""
    error = Error()
    lib.dn_error_clear(c.byref(error))
    status = function(*arguments, c.byref(error))
    if status != 0:
        raise RuntimeError(f"{lib.dn_status_name(status).decode()}: {error.message.decode()}")


class Model:
    """A trained model."""

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        lib.dn_model_unref(self.handle)

    @classmethod
    def fit(cls, rows, labels, method, parameters=None):
        """Trains a model. rows: lists of numbers (None: missing); labels: one string for each row."""
        n, d = len(rows), len(rows[0])
        x = (c.c_double * (n * d))(*(float("nan") if v is None else v for row in rows for v in row))
        y = (c.c_char_p * n)(*(label.encode() for label in labels))
        handle = MODEL()
        call(lib.dn_fit_strings, x, n, d, y, method.encode(),
             parameters.encode() if parameters else None, None, c.byref(handle))
        return cls(handle)

    def classes(self):
        names = lib.dn_model_classes(self.handle).contents.names
        return [names.bytes[names.start[k]:names.start[k + 1]].decode() for k in range(names.n)]

    def predict(self, rows):
        """Returns the class of each row and its probabilities (all 0 if the model has none)."""
        n, d, names = len(rows), len(rows[0]), self.classes()
        x = (c.c_double * (n * d))(*(v for row in rows for v in row))
        label, p = (c.c_size_t * n)(), (c.c_double * (n * len(names)))()
        array = Array(c.cast(x, c.c_void_p), 0, n, d)
        wanted = Prediction(c.sizeof(Prediction), label,
                            p if lib.dn_model_has_probabilities(self.handle) else None)
        call(lib.dn_model_predict_rows, self.handle, c.byref(array), c.byref(wanted), None)
        return [(names[label[i]], p[i * len(names):(i + 1) * len(names)]) for i in range(n)]

    def save(self, file):
        def write(_, data, size):
            return file.write(data[:size])
        call(lib.dn_model_save, self.handle, WRITE(write), None)

    @classmethod
    def load(cls, file):
        def read(_, buffer, size):
            data = file.read(size)
            c.memmove(buffer, data, len(data))
            return len(data)
        handle = MODEL()
        call(lib.dn_model_load, READ(read), None, c.byref(handle))
        return cls(handle)


def main():
    path, method, *parameters = sys.argv[1:] + ["tests/data/iris.csv", "logistic"][len(sys.argv) - 1:]
    with open(path, newline="") as file:
        table = list(csv.reader(file))[1:]
    rows = [[float(v) for v in line[:-1]] for line in table]
    labels = [line[-1] for line in table]
    model = Model.fit(rows, labels, method, " ".join(parameters))
    with tempfile.TemporaryFile() as file:
        model.save(file)
        file.seek(0)
        loaded = Model.load(file)
    expected, found = model.predict(rows), loaded.predict(rows)
    right = sum(name == label for (name, _), label in zip(found, labels))
    print(f"libdiscern {lib.dn_version().decode()}: "
          f"accuracy {right / len(rows):.4f} on {len(rows)} rows")
    if found != expected:
        sys.exit("the loaded model predicts something else")
    try:
        Model.fit(rows, labels, "svm", "kernel=rfb")
    except RuntimeError as failure:
        print(f"the message for the wrong parameter kernel=rfb: {failure}")


if __name__ == "__main__":
    main()
