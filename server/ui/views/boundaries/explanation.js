/* What the plane shows, in words. */
import { h } from '../../base/preact.js';
import { count, percent } from '../../base/format.js';
import { rowsText } from './rows.js';

/* Whether the model has columns that are no axis. */
const hasOthers = (grid) => grid && Object.keys(grid.at).length > 0;

function rowSentences({ model, layers, lacks, drawn, data, grid, x, y }) {
    if (!layers.data || !data) {
        return [];
    }
    const list = [rowsText(data, drawn, { x, y }) + (hasOthers(grid)
        ? ' With its own values in the other columns a row may be right on foreign ground.' : '')];
    if (data.error) {
        list.push(`The model cannot answer these rows: ${data.error.message}.`);
    } else if (data.target !== null) {
        const n = drawn.wrong.length;
        list.push(n === 0 ? 'The model gives each of these rows its right class.'
            : `A cross marks a row that does not get its right class: ${count(n)} of ` +
                `${count(data.items.length)} (${percent(n / data.items.length)}).`);
    }
    if (layers.support && lacks.support === undefined) {
        list.push(`A ring marks a support vector (${count(drawn.rings)} here): the boundary ` +
            'would move without these rows, and not without the others.');
    }
    if (data.target === null && model.target !== null) {
        list.push(`These data have no column ${model.target}: their classes are not known.`);
    }
    return list;
}

function sentences(props) {
    const { model, layers, lacks, grid } = props;
    const on = (name) => layers[name] && lacks[name] === undefined;
    return [
        'Each place is a row with these two values' + (hasOthers(grid)
            ? '; the other columns have the values listed under “The other columns”.' : '.') +
            (layers.regions ? ' The colour is the class that the model answers there.' : ''),
        grid && grid.labels.includes(null)
            ? 'Hatched places get no class: the machines of the model do not agree.' : '',
        on('probability') ? 'On each thin line the model is equally sure of the chosen class: ' +
            'lines close together mean that it changes its mind quickly.' : '',
        on('margin') ? 'The dashed lines are the margin, at the scores −1 and +1. The wider the ' +
            'street between them, the better the classes are kept apart.' : '',
        on('machines') ? 'The dotted lines are the boundaries of the single machines.' : '',
        on('disputed') ? 'Hatched places are disputed: none or several machines claim them, and ' +
            'the answer comes from the greatest score or the most votes.' : '',
        ...rowSentences(props),
    ].filter(Boolean);
}

/* The props are those of the parts in drawing.js. */
export function Explanation(props) {
    return h('div', { class: 'boundaries-text' }, [
        h('h3', {}, 'What you see'),
        h('ul', {}, sentences(props).map((text, i) => h('li', { key: i }, text))),
    ]);
}
