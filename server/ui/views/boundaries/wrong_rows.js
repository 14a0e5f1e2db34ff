/* The drawn rows that the model answers wrongly, as a table. */
import { h } from '../../base/preact.js';
import { plural } from '../../base/format.js';
import { link } from '../../base/place.js';
import { DataTable } from '../../parts/table.js';

/* drawn: of drawnRows() */
export function WrongRows({ data, drawn, x, y }) {
    if (!data || drawn.wrong.length === 0) {
        return null;
    }
    const { dataset, version } = data;
    return h('details', { class: 'card' }, [
        h('summary', {}, `${plural(drawn.wrong.length, 'row')} with a wrong answer`),
        h('div', { class: 'more' }, h(DataTable, {
            caption: 'Rows with a wrong answer', rows: drawn.wrong,
            columns: [
                { name: 'row', label: 'Row', cell: ({ row }) => h('a', {
                    href: link(['data', dataset.name], { tab: 'rows', version, offset: row }),
                }, `Row ${row}`) },
                { name: 'x', label: x.name, numeric: true },
                { name: 'y', label: y.name, numeric: true },
                { name: 'truth', label: 'Right class', value: ({ truth }) => String(truth) },
                { name: 'label', label: 'Answer of the model',
                    value: ({ label }) => (label === null ? 'none' : String(label)) },
            ],
        })),
    ]);
}
