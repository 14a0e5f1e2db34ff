/* The table that a draft would become: names, types that can be changed, and the first rows. */
import { Component, h } from '../../base/preact.js';
import { advice } from '../../base/advice.js';
import { count, plural } from '../../base/format.js';
import { Pager, cellText } from './cells.js';

const PAGE = 20; /* columns */
const FEW_ROWS = 20; /* in which values may differ by chance */
const TYPES = [
    ['numeric', 'numeric'], ['categorical', 'categorical'], ['text', 'text'],
    ['boolean', 'boolean'], ['datetime', 'datetime'],
    ['datetime(dmy)', 'datetime: day first'], ['datetime(mdy)', 'datetime: month first'],
    ['datetime(ymd)', 'datetime: year first'],
];

/* What the types mean. */
function TypeWords() {
    return h('details', { class: 'more' }, [
        h('summary', {}, 'What the types mean'),
        h('dl', {}, [
            ['numeric', 'numbers to calculate with'],
            ['categorical', 'a limited number of different values: a kind, a colour, a code'],
            ['text', 'texts whose words count'],
            ['boolean', 'true and false'],
            ['datetime', 'dates, times of day, or both'],
        ].flatMap(([name, text]) => [h('dt', {}, name), h('dd', {}, text)])),
    ]);
}

/* Why the column has its type, and what would change that. */
function Reason({ draft, column }) {
    const reason = column.type_reason;
    if (!reason || reason.code === 'given' || reason.line === undefined) {
        return column.identifier && draft.preview.judged.rows > FEW_ROWS
            ? h('span', { class: 'minor' }, 'an identifier: each row differs') : null;
    }
    const { cell } = reason;
    const { missing } = draft.settings;
    const after = reason.code === 'after_numbers' || reason.code === 'after_booleans' ||
        reason.code === 'after_dates';
    return h('span', { class: 'minor reason' }, [
        h('span', { title: advice(reason.detail) },
            [`line ${count(reason.line)}: `, h('q', {}, cell)]),
        reason.hint ? ` ${advice(reason.hint)}` : '',
        after && draft.mode !== 'append' ? h('button', {
            type: 'button', class: 'quiet',
            onClick: () => draft.set({
                missing: [...missing.split(',').filter(Boolean),
                    /[",]/.test(cell) ? `"${cell.replace(/"/g, '""')}"` : cell].join(','),
            }),
        }, `“${cell}” means missing`) : null,
    ]);
}

function TypeChoice({ draft, column, wanted }) {
    const { types } = draft.settings;
    const given = types[column.name];
    const set = (type) => {
        const others = { ...types };
        delete others[column.name];
        draft.set({ types: type ? { ...others, [column.name]: type } : others });
    };
    if (draft.mode === 'append') {
        return h('span', { class: 'minor' }, wanted || 'not in the dataset');
    }
    return h('select', {
        'aria-label': `Type of ${column.name}`, value: given || '',
        onChange: (event) => set(event.target.value),
    }, [
        h('option', { value: '', selected: !given }, given ? 'find out' : column.type),
        ...TYPES.filter(([value]) => given || value !== column.type).map(([value, label]) =>
            h('option', { value, selected: value === given }, label)),
    ]);
}

function Head({ draft, column, wanted }) {
    return h('div', { class: 'preview-head' }, [
        h('span', { class: 'column-name', title: column.name }, column.name),
        h(TypeChoice, { draft, column, wanted }),
        h(Reason, { draft, column }),
    ]);
}

export class PreviewTable extends Component {
    constructor(props) {
        super(props);
        this.state = { first: 0 };
    }

    render({ draft }, { first }) {
        const { preview, known, mode } = draft;
        const { columns, rows, judged } = preview;
        const start = first < columns.length ? first : 0;
        const shown = columns.slice(start, start + PAGE);
        const types = new Map(mode === 'append' && known?.columns
            ? known.columns.map((column) => [column.name, column.type]) : []);
        const wanted = ({ name }, i) => types.get(name) ||
            (draft.placed && mode === 'append' ? known?.columns[i]?.type : undefined);
        const whole = draft.sample?.whole && judged.whole;
        const label = 'First rows of the table';
        return h('section', { class: 'card stack', 'aria-label': 'Preview' }, [
            h('div', { class: 'head' }, [
                h('h2', {}, draft.error ? 'What it was before the last change'
                    : 'What it becomes'),
                h('span', { class: 'minor' }, whole
                    ? `${plural(judged.rows, 'row')}, ${plural(columns.length, 'column')}`
                    : `${plural(columns.length, 'column')}; types found in the first ` +
                        `${plural(judged.rows, 'row')}, the upload reads all`),
            ]),
            h(Pager, {
                noun: 'column', first: start, page: PAGE, total: columns.length,
                onFirst: (value) => this.setState({ first: value }),
            }),
            h('div', {
                class: `table-scroll preview${draft.error ? ' stale' : ''}`, tabindex: '0',
                role: 'group', 'aria-label': label,
            }, h('table', { class: 'data' }, [
                h('caption', { class: 'hidden' }, label),
                h('thead', {}, h('tr', {}, shown.map((column, i) => h('th', {
                    scope: 'col', key: column.name,
                }, h(Head, { draft, column, wanted: wanted(column, start + i) }))))),
                h('tbody', {}, rows.map((row) => h('tr', {}, shown.map((column) => h('td', {
                    class: column.type === 'numeric' ? 'cell numeric' : 'cell',
                }, cellText(row[column.name], preview.sparse ? 0 : null)))))),
            ])),
            h(TypeWords),
        ]);
    }
}
