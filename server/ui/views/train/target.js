/* Which columns can be the target, and which one is proposed. */
import { count, plainName } from '../../base/format.js';

const MOST_CLASSES = 1000; /* of the API */
const MOST_NUMBERS = 100;  /* beyond it numbers are a measured quantity, unless asked otherwise */
const FEW = 20;            /* classes of a target that is proposed by its place */

const NAMES = ['class', 'target', 'label', 'outcome', 'y', 'species', 'diagnosis', 'result',
    'response', 'survived', 'churn', 'is_spam', 'category', 'status'];

/* Names of columns with another task. */
const NO_TARGETS = ['id', 'split', 'fold', 'is_train', 'train', 'weight', 'group'];

/* What a column is as a target: {can, asked, text}. asked: only with target_as "classes". */
export function asTarget(column) {
    const n = column.distinct;
    const no = (text) => ({ can: false, asked: false, text });
    if (column.type === 'text') {
        return no('free text, not a class');
    }
    if (column.type === 'datetime' || column.type === 'sparse') {
        return no(column.type === 'sparse' ? 'many features, not a class' : 'a time, not a class');
    }
    if (n !== null && n !== undefined && n < 2) {
        return no('only one value, nothing to tell apart');
    }
    if (column.identifier) {
        return no('another value in each row, as in identifiers');
    }
    if (n > MOST_CLASSES && !column.distinct_estimated) {
        return no(`${count(n)} different values, too many for classes`);
    }
    if (column.type === 'numeric' && (column.fractions || n > MOST_NUMBERS)) {
        return { can: true, asked: true, text: `${count(n)} different numbers: a quantity` };
    }
    return {
        can: true, asked: false,
        text: n === null || n === undefined ? 'classes' : `${count(n)} classes`,
    };
}

/* The proposed target: {name, reason}, or null. */
export function proposeTarget(columns) {
    const fits = (column) => {
        const { can, asked } = asTarget(column);
        return can && !asked && !NO_TARGETS.includes(column.name.toLowerCase());
    };
    const named = NAMES.map((name) => columns.find((c) => c.name.toLowerCase() === name))
        .find((column) => column && fits(column));
    if (named) {
        return { name: named.name, reason: `for its name and its ${asTarget(named).text}` };
    }
    const few = (column) => column && fits(column) &&
        (column.type !== 'numeric' || column.distinct <= FEW);
    const last = columns[columns.length - 1];
    if (few(last)) {
        return {
            name: last.name, reason: `because it is the last column and has ${asTarget(last).text}`,
        };
    }
    const [first] = columns;
    if (few(first)) {
        return {
            name: first.name,
            reason: `because it is the first column and has ${asTarget(first).text}`,
        };
    }
    const [least] = columns.filter(few).sort((a, b) => a.distinct - b.distinct);
    return least
        ? { name: least.name, reason: `because it has only ${asTarget(least).text}` } : null;
}

/* The column that would be proposed if it had a second value; undefined: there is none. */
export function singleTarget(columns) {
    const named = NAMES.map((name) => columns.find((c) => c.name.toLowerCase() === name));
    return [...named, columns[columns.length - 1]].find((column) =>
        column?.distinct === 1 && ['categorical', 'boolean', 'numeric'].includes(column.type));
}

/* Why there is no target to propose. methods: of the catalogue. */
export function noTargetText(columns, methods) {
    const single = singleTarget(columns);
    if (!single) {
        return 'No column has a few different values that could be classes. Choose one, or add ' +
            'such a column to the data.';
    }
    const titles = methods.filter((m) => !m.needs_target).map((m) => m.title);
    const without = titles.length === 0 ? '' : ` Without a target, ${titles.join(' or ')} learns ` +
        'what most rows are like.';
    return `The column “${single.name}” has one value only, and a classifier needs two. Add rows ` +
        `with another value, or choose another column.${without}`;
}

/* A name for the model: that of the data and of the target, in letters that names may have. */
export function proposeModel(dataset, target) {
    const plain = plainName(target ?? '').replace(/^-+|-+$/g, '');
    const text = plain && !['class', 'target', 'label', 'y'].includes(plain.toLowerCase())
        ? `${dataset}-${plain}` : dataset;
    return text.slice(0, 63);
}

/* Whether a column is a feature unless the request says otherwise. */
export function usedByDefault(column, nRows) {
    const filled = nRows - column.missing;
    return !column.identifier &&
        !(column.type === 'text' && column.words !== undefined && column.words < 5 * filled);
}

/* The classes of a target as values of JSON; null: they are not known from the description. */
export function classesOf(column) {
    if (!column) {
        return null;
    }
    const { type, distinct, top, min, max } = column;
    if (top && top.length === distinct) {
        return top.map(([value]) => value).sort();
    }
    if (type === 'boolean' && distinct === 2) {
        return [false, true];
    }
    if (type === 'numeric' && distinct === 2) {
        return [min, max];
    }
    if (type === 'numeric' && !column.fractions && max - min + 1 === distinct && distinct <= 30) {
        return Array.from({ length: distinct }, (x, i) => min + i);
    }
    return null;
}
