/* The fields of a row: what can be filled in for each column that the model reads, with the range
 * and the typical value in the training table. Values are texts; '' is a missing value. */
import { parseDate, writeDate } from '../../base/dates.js';
import { number } from '../../base/format.js';

const WHOLE_SPAN = 60; /* whole numbers that are all points of a grid */
const GRID = 41;
const DIGITS = 6; /* of a number, unless its column has a narrow range */
const MOST_DIGITS = 17;
const MOST_LEVELS = 30;

function isWhole(column) {
    return !column.fractions && [column.min, column.max,
        ...Object.values(column.quantiles || {})].every(Number.isInteger);
}

/* The digits with which numbers a thousandth of the range apart differ; at least `least`. */
function digitsOf({ min, max }, least) {
    if (!(max > min)) {
        return MOST_DIGITS;
    }
    const size = Math.max(Math.abs(min), Math.abs(max));
    const digits = Math.floor(Math.log10(size)) - Math.floor(Math.log10(max - min)) + 4;
    return Math.min(Math.max(digits, least), MOST_DIGITS);
}

/* Returns a number within the range of a field, as short as its range permits. */
export function rounded(field, x, least = DIGITS) {
    return field.whole ? Math.round(x) : Number(x.toPrecision(digitsOf(field, least)));
}

function numericField(input, column, reading) {
    const median = column?.quantiles?.['0.5'] ?? column?.mean ?? input.missing_value;
    const field = { kind: 'number', comma: commaOf(column?.name, reading) };
    if (column && typeof column.min === 'number') {
        Object.assign(field, { min: column.min, max: column.max, whole: isWhole(column) });
    }
    field.typical = typeof median !== 'number' ? ''
        : String(Number.isInteger(median) ? median : rounded(field, median));
    return field;
}

/* Whether the numbers of a column had decimal commas. reading: of the model. */
function commaOf(name, { decimal, thousands, decimal_comma: names = [] } = {}) {
    return decimal === ',' || (!decimal && thousands === '.') || names.includes(name);
}

/* Returns the number of a text; NaN: it is none. */
export function numberOf(field, text) {
    const plain = text.trim();
    const written = field.comma && /^[+-]?\d*,\d*(e[+-]?\d+)?$/i.test(plain)
        ? plain.replace(',', '.') : plain;
    return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(written) ? Number(written) : NaN;
}

/* Returns what to write instead of a text that is not a number; '': nothing is wrong. */
export function faultOf(field, text) {
    if (field.kind !== 'number' || text.trim() === '' || Number.isFinite(numberOf(field, text))) {
        return '';
    }
    const plain = text.trim();
    if (/^[+-]?\d+,\d+$/.test(plain)) {
        const [before, behind] = plain.split(',');
        const whole = behind.length === 3 ? `, or ${before}${behind} if the comma separates ` +
            'thousands' : '';
        return `Write a decimal point: ${before}.${behind}${whole}.`;
    }
    return /^[+-]?[\d.,'\u2019\s]+$/.test(plain)
        ? 'Write the number without separators of thousands, with a decimal point.'
        : 'This is not a number.';
}

function categoryField(input, column) {
    const levels = input.levels || [];
    const known = new Set(levels);
    const top = (column?.top || []).map(([value]) => String(value))
        .filter((value) => known.has(value));
    const ordered = [...new Set([...top, ...levels])];
    return { name: input.name, kind: 'category', levels: ordered, typical: ordered[0] ?? '' };
}

/* min, max: in seconds. The middle of the range is typical: the API has no median of dates. */
function dateField({ form }, column) {
    const field = { kind: 'date', form, typical: '' };
    if (!form) {
        return field;
    }
    const [min, max] = [column?.min, column?.max].map((text) => parseDate(text ?? '', form));
    return min <= max ? { ...field, min, max, typical: writeDate((min + max) / 2, form) } : field;
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
            fields.set(name, { ...shared, ...dateField(input, column) });
        } else if (input.type === 'numeric') {
            fields.set(name, { ...shared, ...numericField(input, column, model.reading) });
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
        const value = numberOf(field, text);
        return Number.isFinite(value) ? value : text;
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
        const digits = digitsOf(field, 4);
        return `${number(field.min, digits)} to ${number(field.max, digits)}, typical ` +
            number(Number(field.typical), digits);
    }
    if (field.kind === 'date') {
        const { min, max } = field.column || {};
        return `${field.form}${min ? `, ${min} to ${max}` : ''}`;
    }
    return field.kind === 'sparse' ? 'index:value …, all others are 0' : null;
}

/* Whether a grid along the field can be drawn. */
export function hasGrid(field) {
    return (['number', 'date'].includes(field.kind) && field.max > field.min) ||
        (field.kind === 'category' && field.levels.length > 1);
}

/* Returns the place of a text on the axis of a number or date; NaN: it has none. */
export function placeOf(field, text) {
    return field.kind === 'number' ? numberOf(field, text)
        : field.form ? parseDate(text, field.form) : NaN;
}

/* Returns the texts of a field for a grid along it, with its present text among them. */
export function gridOf(field, text) {
    if (field.kind === 'category') {
        const levels = field.levels.slice(0, MOST_LEVELS);
        return levels.includes(text) || text === '' ? levels : [text, ...levels];
    }
    const now = placeOf(field, text);
    const given = Number.isFinite(now);
    const low = Math.min(field.min, given ? now : field.min);
    const high = Math.max(field.max, given ? now : field.max);
    const every = field.whole && high - low <= WHOLE_SPAN && Number.isInteger(low);
    const n = every ? Math.floor(high - low) + 1 : GRID;
    const range = { ...field, min: low, max: high };
    const texts = new Map(given ? [[now, text.trim()]] : []); /* by place */
    for (let i = 0; i < n; i++) {
        const x = every ? low + i : low + (high - low) * i / (n - 1);
        const point = field.kind === 'date' ? writeDate(x, field.form) : String(rounded(range, x));
        const place = placeOf(field, point);
        texts.set(place, texts.get(place) ?? point);
    }
    return [...texts].sort(([a], [b]) => a - b).map(([, point]) => point);
}
