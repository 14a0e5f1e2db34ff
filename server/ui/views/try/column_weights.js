/* How much each column moves the scores of a linear model: its largest weight times the standard
 * deviation of the column. */
import { get } from '../../base/api.js';

const MOST_WEIGHTS = 200000;
const LEVEL = 0.5; /* standard deviation of the feature of a category, at most */

/* Resolves to a function from the name of a column to its weight, or null if the model has no such
 * weights or too many. where: path of the model. */
export async function columnWeights(where, model, dataset, signal) {
    if ((model.n_features || 0) * model.classes.length > MOST_WEIGHTS) {
        return null;
    }
    const { features, w: rows } = await get(`${where}/weights`, { signal });
    if (!features || !Array.isArray(rows?.[0])) {
        return null;
    }
    const deviations = new Map((dataset?.columns || [])
        .map((column) => [column.name, column.std ?? LEVEL]));
    const names = new Set(model.inputs.map((input) => input.column || input.name));
    const columnOf = (feature) => (names.has(feature) ? feature
        : [feature.lastIndexOf('='), feature.lastIndexOf(':')].filter((at) => at > 0)
            .map((at) => feature.slice(0, at)).find((name) => names.has(name)));
    const weights = new Map();
    features.forEach((feature, i) => {
        const column = columnOf(feature);
        const size = Math.max(...rows.map((row) => Math.abs(row[i] || 0))) *
            (deviations.get(column) ?? 1);
        weights.set(column, Math.max(weights.get(column) || 0, size));
    });
    return (name) => weights.get(name);
}
