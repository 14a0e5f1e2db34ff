/* Rows of the data as they are drawn in the plane. */
import { parseDate } from '../../base/dates.js';
import { count, plural } from '../../base/format.js';

function place(values, { name, form }) {
    const value = values[name];
    const number = form && value !== null ? parseDate(value, form) : value;
    return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/* data: of loadRows(), or null. wrong: only rows with a wrong answer; support: of loadSupport();
 * machine: its index, undefined: all. Returns {rows: for the plane, wrong: all rows with a wrong
 * answer, lacking: the number of rows without a value on an axis, rings}. */
export function drawnRows(model, data, { x, y, wrong, support, machine }) {
    const classes = new Map(model.classes.map((name, k) => [String(name), k]));
    const result = { rows: [], wrong: [], lacking: 0, rings: 0 };
    const trained = data && data.dataset.name === model.dataset?.name &&
        data.version === model.dataset.version;
    const machines = trained && support
        ? (machine === undefined ? support : support.slice(machine, machine + 1)) : [];
    for (const { row, values, label } of data?.items || []) {
        const truth = data.target === null ? null : values[data.target];
        const isKnown = truth !== null && classes.has(String(truth));
        const isWrong = isKnown && label !== undefined && String(truth) !== String(label);
        const [px, py] = [place(values, x), place(values, y)];
        const said = label === undefined ? '' : label === null ? 'the model gives no class'
            : `the model says ${label}`;
        const item = {
            row, truth, label, x: px, y: py, wrong: isWrong,
            c: classes.get(String(isKnown ? truth : data.target === null ? label : null)) ?? -1,
            ring: machines.some((rows) => rows.has(row)),
            text: `row ${row}${isKnown ? ` is ${truth}` : ''}` +
                `${said && (isWrong || !isKnown) ? `, ${said}` : ''}`,
        };
        if (isWrong) {
            result.wrong.push(item);
        }
        if (px === null || py === null) {
            result.lacking++;
        } else if (!wrong || isWrong) {
            result.rows.push(item);
            result.rings += item.ring;
        }
    }
    return result;
}

/* How many rows are drawn, in words. */
export function rowsText(data, { rows, lacking }, { x, y }) {
    const of = data.items.length < data.total
        ? ` of ${count(data.total)}, from all parts of the data,` : '';
    const without = lacking ? ` ${plural(lacking, 'row')} without ${x.name} or ${y.name} ` +
        `${lacking === 1 ? 'is' : 'are'} left out.` : '';
    const are = rows.length === 1 ? 'is' : 'are';
    return `${plural(rows.length, 'row')}${of} ${are} drawn.${without}`;
}
