// Trains, predicts, saves and loads from C++, with the calls for arrays (discern/simple.h).
//
//   fit_iris [FILE]     a CSV file of numbers whose last column is the class; default:
//                       tests/data/iris.csv
//
//   c++ -std=c++17 fit_iris.cpp $(pkg-config --cflags --libs discern) -o fit_iris
#include <discern/discern.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// A reference to a model: released with dn_model_unref.
struct Unref {
    void operator()(dn_model *model) const {
        dn_model_unref(model);
    }
};
using Model = std::unique_ptr<dn_model, Unref>;

void check(dn_status status, const dn_error &err) {
    if (status != DN_OK) {
        throw std::runtime_error(std::string(dn_status_name(status)) + ": " + err.message);
    }
}

struct Table {
    std::vector<double> x; // [rows × columns] row-major
    std::vector<std::string> labels;
    std::size_t n_columns = 0;
};

Table read_table(const char *path) {
    std::ifstream file(path);
    std::string line, cell;
    Table table;
    if (!std::getline(file, line)) {
        throw std::runtime_error(std::string(path) + ": no such table");
    }
    while (std::getline(file, line)) {
        std::istringstream cells(line);
        std::vector<std::string> row;
        while (std::getline(cells, cell, ',')) {
            row.push_back(cell);
        }
        table.n_columns = row.size() - 1;
        for (std::size_t j = 0; j < table.n_columns; j++) {
            table.x.push_back(std::stod(row[j]));
        }
        table.labels.push_back(row.back());
    }
    return table;
}

Model train(const Table &table) {
    std::vector<const char *> labels;
    for (const std::string &label : table.labels) {
        labels.push_back(label.c_str());
    }
    dn_error err;
    dn_error_clear(&err);
    dn_run run = dn_run_default();
    run.seed = 7;
    dn_model *model = nullptr;
    check(dn_fit_strings(table.x.data(), labels.size(), table.n_columns, labels.data(), "svm",
                         "C=10 kernel=rbf", &run, &model, &err),
          err);
    return Model(model);
}

std::ptrdiff_t write_stream(void *ctx, const void *bytes, std::size_t size) {
    auto &out = *static_cast<std::ostream *>(ctx);
    out.write(static_cast<const char *>(bytes), static_cast<std::streamsize>(size));
    return out ? static_cast<std::ptrdiff_t>(size) : -1;
}

std::ptrdiff_t read_stream(void *ctx, void *buffer, std::size_t size) {
    auto &in = *static_cast<std::istream *>(ctx);
    in.read(static_cast<char *>(buffer), static_cast<std::streamsize>(size));
    return in.gcount();
}

// Saves the model to a stream and loads it again.
Model copy(const Model &model) {
    std::stringstream stream;
    dn_error err;
    dn_error_clear(&err);
    check(dn_model_save(model.get(), write_stream, &stream, &err), err);
    dn_model *loaded = nullptr;
    check(dn_model_load(read_stream, &stream, &loaded, &err), err);
    return Model(loaded);
}

std::string class_name(const dn_model *model, std::size_t k) {
    const dn_strings &names = dn_model_classes(model)->names;
    return std::string(names.bytes + names.start[k], names.start[k + 1] - names.start[k]);
}

double accuracy(const Model &model, const Table &table) {
    const std::size_t n = table.labels.size();
    std::vector<std::size_t> label(n);
    std::vector<float> x(table.x.begin(), table.x.end()); // floats are accepted too
    const dn_array array = dn_array_floats(x.data(), n, table.n_columns);
    dn_prediction wanted = {};
    wanted.label = label.data();
    dn_error err;
    dn_error_clear(&err);
    check(dn_model_predict_rows(model.get(), &array, &wanted, nullptr, &err), err);
    std::size_t right = 0;
    for (std::size_t i = 0; i < n; i++) {
        right += label[i] != DN_AMBIGUOUS && class_name(model.get(), label[i]) == table.labels[i];
    }
    return static_cast<double>(right) / static_cast<double>(n);
}

} // namespace

int main(int argc, char **argv) {
    try {
        const Table table = read_table(argc > 1 ? argv[1] : "tests/data/iris.csv");
        const Model model = train(table);
        const Model loaded = copy(model);
        std::printf("libdiscern %s: accuracy %.4f on %zu rows, %.4f after saving and loading\n",
                    dn_version(), accuracy(model, table), table.labels.size(),
                    accuracy(loaded, table));
        return EXIT_SUCCESS;
    } catch (const std::exception &failure) {
        std::cerr << failure.what() << '\n';
        return EXIT_FAILURE;
    }
}
