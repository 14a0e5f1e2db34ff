/* The fields of a row: what can be filled in for each column that the model reads, with the range
 * and the typical value in the training table. Values are texts; '' is a missing value. */
import { number } from '../../base/format.js';

const WHOLE_SPAN = 60; /* whole numbers that are all points of a grid */
const GRID = 41;
const MOST_LEVELS = 30;

function isWhole(column) {
    return !column.fractions && [column.min, column.max,
        ...Object.values(column.quantiles || {})].every(Number.isInteger);
}

function numberText(x) {
    return typeof x === 'number' ? String(Number(x.toPrecision(6))) : '';
}

function numericField(input, column) {
    const median = column?.quantiles?.['0.5'] ?? column?.mean ?? input.missing_value;
    const field = { name: input.name, kind: 'number', typical: numberText(median) };
    if (column && typeof column.min === 'number') {
        Object.assign(field, { min: column.min, max: column.max, whole: isWhole(column) });
    }
    return field;
}

function categoryField(input, column) {
    const levels = input.levels || [];
    const known = new Set(levels);
    const top = (column?.top || []).map(([value]) => String(value))
        .filter((value) => known.has(value));
    const ordered = [...new Set([...top, ...levels])];
    return { name: input.name, kind: 'category', levels: ordered, typical: ordered[0] ?? '' };
}

/* Returns the fields of the columns that the model reads. model: its document; dataset: the
 * document of the training table, or null. */
export function fieldsOf(model, dataset) {
    const columns = new Map((dataset?.columns || []).map((column) => [column.name, column]));
    const fields = new Map();
    for (const input of model.inputs || []) {
        const name = input.column || input.name;
        const column = columns.get(name);
        const shared = { column, missing: column?.missing > 0, name };
        if (fields.has(name)) {
            continue;
        }
        if (input.form || input.column) {
            fields.set(name, { ...shared, kind: 'date', form: input.form, typical: '' });
        } else if (input.type === 'numeric') {
            fields.set(name, { ...shared, ...numericField(input, column) });
        } else if (input.type === 'boolean') {
            const typical = String(column?.top?.[0]?.[0] ?? 'true');
            fields.set(name, {
                ...shared, kind: 'category', boolean: true, levels: ['true', 'false'], typical,
            });
        } else if (input.type === 'categorical') {
            fields.set(name, { ...shared, ...categoryField(input, column) });
        } else {
            const kind = input.type === 'sparse' ? 'sparse' : 'text';
            fields.set(name, { ...shared, kind, typical: '' });
        }
    }
    return [...fields.values()];
}

/* Returns the text of a field for a value of a stored row. row: the whole row, for sparse ones. */
export function textOf(field, row) {
    if (field.kind === 'sparse') {
        return Object.entries(row)
            .filter(([name, value]) => value && name.startsWith(field.name) &&
                /^\d+$/.test(name.slice(field.name.length)))
            .map(([name, value]) => `${name.slice(field.name.length)}:${value}`).join(' ');
    }
    const value = row[field.name];
    return value === null || value === undefined ? '' : String(value);
}

function valueOf(field, text) {
    if (text === '') {
        return null;
    }
    if (field.kind === 'number') {
        const value = Number(text);
        return text.trim() !== '' && Number.isFinite(value) ? value : text;
    }
    return field.boolean ? text === 'true' : text;
}

/* Returns the row that is sent: an object by column. */
export function instanceOf(fields, values) {
    const row = Object.create(null); /* a column may be named __proto__ */
    for (const field of fields) {
        const text = values[field.name] ?? '';
        if (field.kind === 'sparse') {
            for (const [, index, value] of text.matchAll(/(\d+):(\S+)/g)) {
                row[`${field.name}${index}`] = Number.isNaN(Number(value)) ? value : Number(value);
            }
        } else {
            row[field.name] = valueOf(field, text);
        }
    }
    return row;
}

/* Returns what may be filled in, for the hint of a field. */
export function rangeText(field) {
    if (field.kind === 'number' && field.min !== undefined) {
        return `${number(field.min)} to ${number(field.max)}, typical ` +
            number(Number(field.typical));
    }
    if (field.kind === 'date') {
        const { min, max } = field.column || {};
        return `${field.form}${min ? `, ${min} to ${max}` : ''}`;
    }
    return field.kind === 'sparse' ? 'index:value …, all others are 0' : null;
}

/* Whether a grid along the field can be drawn. */
export function hasGrid(field) {
    return (field.kind === 'number' && field.max > field.min) ||
        (field.kind === 'category' && field.levels.length > 1);
}

/* Returns the texts of a field for a grid along it, with its present text among them. */
export function gridOf(field, text) {
    if (field.kind === 'category') {
        const levels = field.levels.slice(0, MOST_LEVELS);
        return levels.includes(text) || text === '' ? levels : [text, ...levels];
    }
    const now = Number(text);
    const given = text !== '' && Number.isFinite(now);
    const low = Math.min(field.min, given ? now : field.min);
    const high = Math.max(field.max, given ? now : field.max);
    const whole = field.whole && high - low <= WHOLE_SPAN && Number.isInteger(low);
    const n = whole ? high - low + 1 : GRID;
    const grid = Array.from({ length: n }, (_, i) =>
        (whole ? low + i : Number((low + (high - low) * i / (n - 1)).toPrecision(6))));
    return [...new Set(given ? [...grid, now] : grid)].sort((a, b) => a - b).map(String);
}
