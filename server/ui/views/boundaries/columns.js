/* The columns that can be axes, and which two are drawn at first. */
import { get, path, post } from '../../base/api.js';
import { versionPath } from '../../base/version_path.js';

const PATIENCE = 500; /* ms */
const MOST_WORK = 2e7; /* rows times columns squared of an importance */
const MOST_FEATURES = 2000;

/* Returns [{name, form}] of the numeric and datetime columns of a model. form: of dates. */
export function axesOf({ inputs }) {
    const axes = new Map();
    for (const input of inputs) {
        const name = input.column || input.name;
        if (input.type === 'numeric' || input.type === 'datetime' || input.column) {
            axes.set(name, { name, form: input.form || undefined });
        }
    }
    return [...axes.values()];
}

/* Returns why no plane can be drawn, or ''. */
export function obstacle(model) {
    if (model.inputs.some(({ type }) => type === 'text' || type === 'svmlight')) {
        return 'The model reads texts or sparse rows. A plane needs columns of numbers or dates ' +
            'with a value for each other column.';
    }
    if (model.params?.kernel === 'precomputed' || model.params?.kernel?.type === 'precomputed') {
        return 'The columns of the model are values of a kernel, not places in a plane.';
    }
    return axesOf(model).length === 0
        ? 'The model has no column of numbers or dates: there is no axis to draw.' : '';
}

/* The change of a linear score when a column changes by its standard deviation. */
async function byWeights(model, signal) {
    const [weights, dataset] = await Promise.all([
        get(`${versionPath(model)}/weights`, { query: { matrices: 'false' }, signal }),
        get(path`/v1/datasets/${model.dataset.name}`,
            { query: { version: model.dataset.version }, signal }),
    ]);
    if (weights.kind !== 'linear' || !weights.w) {
        return null;
    }
    const std = new Map(dataset.columns.map((column) => [column.name, column.std || 0]));
    return new Map(weights.features.map((feature, j) => [feature, (std.get(feature) || 0) *
        Math.max(...weights.w.map((row) => Math.abs(row[j])))]));
}

async function byImportance(model, signal) {
    const { rows, name, version } = model.dataset;
    if (model.target === null || rows * model.inputs.length ** 2 > MOST_WORK) {
        return null;
    }
    const { columns } = await post(`${versionPath(model)}/importance`,
        { dataset: `${name}@${version}`, repeats: 1 }, { signal });
    return new Map(columns.map(({ column, mean }) => [column, mean]));
}

/* Returns the names of the two columns that matter most to the model, as far as this is known
 * within a second; otherwise the first two. */
export async function importantColumns(model, signal) {
    const names = axesOf(model).map(({ name }) => name);
    if (names.length <= 2 || !model.dataset || model.n_features > MOST_FEATURES) {
        return names.slice(0, 2);
    }
    const patience = new AbortController();
    const stop = () => patience.abort();
    const timer = setTimeout(stop, PATIENCE);
    signal.addEventListener('abort', stop);
    let measure = null;
    try {
        measure = await byWeights(model, patience.signal) ||
            await byImportance(model, patience.signal);
    } catch (error) {
        if (signal.aborted) {
            throw error;
        }
    } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
    }
    const weight = (name) => measure?.get(name) ?? -Infinity;
    return measure ? [...names].sort((a, b) => weight(b) - weight(a) || 0).slice(0, 2)
        : names.slice(0, 2);
}
