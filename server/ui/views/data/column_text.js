/* What is known of a column, as text. */
import { number, percent } from '../../base/format.js';

export function rangeText({ min, max }) {
    return `${number(min, 5)} to ${number(max, 5)}`;
}

/* "male 65 %, female 35 %". */
export function topText({ top, missing }, rows) {
    return top.slice(0, 3).map(([value, n]) =>
        `${String(value).slice(0, 40)} ${percent(n / Math.max(rows - missing, 1), 0)}`).join(', ');
}

/* What to look at before a model is trained. */
export function flags(column, rows) {
    const list = [];
    if (column.identifier) {
        list.push(['identifier', 'Every row has another value: models leave this column out.']);
    }
    if (column.distinct === 1 && column.missing === 0) {
        list.push(['constant', 'All rows have the same value: it says nothing about a row.']);
    }
    if (rows > 0 && column.missing === rows) {
        list.push(['empty', 'No row has a value.']);
    } else if (rows > 0 && column.missing > rows / 2) {
        list.push(['mostly missing', 'More than half of the values are missing.']);
    }
    return list;
}
