/* Messages of the API in the words of the page: the options of a call that they propose
 * ("set decimal=,") become the fields that set them ("set comma in “Decimal mark”"). */

/* The fields of the options of an upload, and the names of their values. */
export const FIELDS = {
    header: { label: 'First line', values: {
        true: 'has the names of the columns', false: 'is data', 2: 'two lines of names',
        3: 'three lines of names',
    } },
    delimiter: { label: 'Between the cells', values: { space: 'blanks' } },
    decimal: { label: 'Decimal mark', values: { ',': 'comma', '.': 'point' } },
    missing: { label: 'Words for missing' },
    on_error: { label: 'Faulty rows' },
    encoding: { label: 'Encoding' },
    thousands: { label: 'Between thousands', values: {
        ',': 'comma', '.': 'point', '\'': 'apostrophe', space: 'blank',
    } },
    strip: { label: 'Signs around numbers' },
    skip_rows: { label: 'Lines to skip at the top' },
    comment: { label: 'Comments begin with' },
    names: { label: 'Names of the columns' },
    duplicates: { label: 'Names that occur twice', values: {
        rename: 'call the second one name_2',
    } },
    label: { label: 'Name of the label' },
    zero_based: { label: 'Indices begin with 0', isCheck: true },
    allow_type_change: { label: 'Columns may change their types', isCheck: true },
};

const OPTION = `(?:(?:decimal|thousands)=[,.']|(?:${
    Object.keys(FIELDS).join('|')})=[^\\s,;:()"&]*)`;
/* Options joined by "&"; those of an address, behind "?", stay. */
const OPTIONS = new RegExp(`(?<![“\\w?&])${OPTION}(?:&${OPTION})*`, 'g');
const TYPE = /(?<![“\w?&])types=([^\s,:"]+):([a-z]+(?:\([a-z]+\))?)/g;
const QUOTED = /("[^"]*(?:"|$))/; /* names and values of the user */

function inField(option) {
    const [, name, value] = /^(\w+)=(.*)$/.exec(option);
    const { label, values = {}, isCheck } = FIELDS[name];
    return value === '' || isCheck ? `“${label}”` : `“${values[value] || value}” in “${label}”`;
}

function inFields(text) {
    return text
        .replace(TYPE, (_, column, type) => `“${type}” in “Type of ${column}”`)
        .replace(/ \(types=\)/g, '')
        .replace(/ \(a URL has %\w\w for .\)/g, '')
        .replace(OPTIONS, (options) =>
            options.split('&').map(inField).join(' and '));
}

/* Returns a message in the words of the page. */
export function advice(text) {
    return String(text).split(QUOTED)
        .map((part, i) => (i % 2 === 0 ? inFields(part) : part)).join('');
}
