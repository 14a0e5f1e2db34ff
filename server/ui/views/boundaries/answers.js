/* What the plane asks of a model: grids, and the labels of rows. */
import { CallError, get, path, post } from '../../base/api.js';
import { parseDate, writeDate } from '../../base/dates.js';
import { csvLine } from '../../base/save.js';
import { readGrid } from '../../parts/contours.js';
import { versionPath } from '../../base/version_path.js';

const MOST_NUMBERS = 500000; /* of a grid */
const MOST_CLASSES = 60; /* of models that are asked for the probabilities of all classes */
const MOST_TOP = 10; /* classes of other models that are asked for */
const MOST_SCORES = 60;
const FEWEST_STEPS = 20;
const MOST_ROWS = 2000;
const MOST_CELLS = 200000;
const MOST_LIST = 8000; /* characters of the columns in a URL; beyond it all are asked for */
const BLOCKS = 10; /* of rows, from all parts of a large dataset */

/* ---- grids ---- */

/* The number of scores of a model. */
export function scoreCount({ classes, decision }) {
    const n = classes.length;
    return n === 2 ? 1 : decision.startsWith('one_vs_one') ? n * (n - 1) / 2 : n;
}

/* Whether a model has so many classes that only some have lines of probability. */
export const hasMany = ({ classes }) => classes.length > MOST_CLASSES;

function outputsOf(model) {
    const outputs = ['label'];
    let planes = 1 + (hasMany(model) ? MOST_TOP + 1 : 0);
    if (!hasMany(model)) {
        outputs.push('probabilities');
        planes += model.classes.length;
    }
    if (scoreCount(model) <= MOST_SCORES) {
        outputs.push('scores');
        planes += scoreCount(model);
    }
    return { output: outputs.join(), planes };
}

/* Returns the number of values of an axis, at most `wanted`: a grid of many classes is coarser. */
export function stepsFor(model, wanted) {
    const most = Math.floor(Math.sqrt(MOST_NUMBERS / outputsOf(model).planes));
    return Math.min(wanted, Math.max(most, FEWEST_STEPS));
}

/* The classes with the largest regions, the largest first, and the chosen one. */
function topClasses(labels, chosen) {
    const sizes = new Map();
    labels.forEach((k) => k !== null && sizes.set(k, (sizes.get(k) || 0) + 1));
    const top = [...sizes.keys()].sort((a, b) => sizes.get(b) - sizes.get(a)).slice(0, MOST_TOP);
    return chosen === undefined || top.includes(chosen) ? top : [...top, chosen];
}

/* Whether the API refuses a grid, or each of its points (413), as the answer is too long. */
const isTooMany = (error) => error instanceof CallError && (error.status === 413 ||
    (error.document?.errors || []).some(({ pointer }) => pointer === '/x/steps'));

/* Adds the probabilities of the classes with the largest regions to a grid; none if the model has
 * no probabilities: then it answers with its scores, or refuses as these are too many. */
async function addTop(grid, chosen, ask) {
    const planes = topClasses(grid.labels, chosen);
    try {
        const { probabilities } = planes.length > 0
            ? await ask({ output: 'probabilities', planes }) : {};
        return { ...grid, planes, probabilities: probabilities?.map((plane) => plane.flat()) };
    } catch (error) {
        if (isTooMany(error)) {
            return { ...grid, planes };
        }
        throw error;
    }
}

/* Loads a grid. x, y: {name, form}; window: {x: [from, to], y} or null; at: values of other
 * columns. top: {chosen}: of a model with many classes, load the probabilities of the classes with
 * the largest regions and of this one; undefined: none. Returns the grid of readGrid() with `at`
 * and `unseen`. y undefined: a line. */
export async function loadGrid(model, { x, y, window, at, steps, top }, signal) {
    const axis = ({ name, form }, ends) => {
        const [from, to] = (ends || []).map((v) => (form ? writeDate(v, form) : v));
        return { column: name, steps, from, to };
    };
    const ask = (more) => post(`${versionPath(model)}/evaluate_grid`, {
        x: axis(x, window?.x), ...(y ? { y: axis(y, window?.y) } : {}), at, ...more,
    }, { signal });
    const answer = await ask({ output: outputsOf(model).output });
    const grid = y ? readGrid(answer, { x: x.form, y: y.form }, model.decision) : {
        ...answer,
        x: x.form ? answer.x.values.map((v) => parseDate(v, x.form)) : answer.x.values,
    };
    const whole = { ...grid, at: answer.at, unseen: answer.unseen };
    return top && y && hasMany(model) ? addTop(whole, top.chosen, ask) : whole;
}

/* ---- rows ---- */

/* Loads rows of a dataset, from all its parts if they are too many, and the labels of the model.
 * dataset: {name, version or undefined}. Returns
 *   {total, version, items: [{row, values, label}], target: name or null, error: of the labels} */
export async function loadRows(model, dataset, signal) {
    const where = path`/v1/datasets/${dataset.name}`;
    const { columns } = await get(where, { query: { version: dataset.version }, signal });
    const known = new Set(columns.map(({ name }) => name));
    const inputs = [...new Set(model.inputs.map(({ column, name }) => column || name))];
    const target = known.has(model.target) ? model.target : null;
    const wanted = [...new Set([...inputs, ...(target === null ? [] : [target])])]
        .filter((name) => known.has(name));
    const list = csvLine(wanted);
    const isLong = encodeURIComponent(list).length > MOST_LIST;
    const most = Math.min(MOST_ROWS,
        Math.floor(MOST_CELLS / (isLong ? columns.length : wanted.length)));
    const size = Math.max(Math.floor(most / BLOCKS), 1);
    const block = async (offset, limit) => {
        const answer = await get(`${where}/rows`, { signal, query: {
            version: dataset.version, columns: isLong ? undefined : list, offset, limit } });
        return { ...answer, items: answer.items.map((row, i) => ({ row: offset + i,
            values: Object.fromEntries(wanted.map((name) => [name, row[name]])) })) };
    };
    const first = await block(0, size);
    const total = first.rows;
    const way = Math.max((total - size) / (BLOCKS - 1), size); /* from block to block */
    const offsets = Array.from({ length: BLOCKS - 1 }, (_, i) => Math.floor((i + 1) * way))
        .filter((offset) => offset < total);
    const rest = await Promise.all(offsets.map((offset) => block(offset, size)));
    const items = [first, ...rest].flatMap((part) => part.items);
    return { total, version: first.version, target, ...await label(model, items, signal) };
}

async function label(model, items, signal) {
    if (items.length === 0) {
        return { items, error: null };
    }
    try {
        const { predictions } = await post(`${versionPath(model)}/predict`,
            { instances: items.map(({ values }) => values) },
            { query: { output: 'label' }, signal });
        return { error: null, items: items.map((item, i) => ({ ...item,
            label: predictions[i].label === undefined ? null : predictions[i].label })) };
    } catch (error) {
        if (signal.aborted) {
            throw error;
        }
        return { items, error };
    }
}

/* Loads the numbers of the rows that are support vectors, by machine; null: there are none. */
export async function loadSupport(model, signal) {
    const { support } = await get(`${versionPath(model)}/weights`,
        { query: { support_vectors: 'true', matrices: 'false' }, signal });
    return support?.available ? support.machines.map(({ rows }) => new Set(rows)) : null;
}
