/* Where a table is dropped, chosen or pasted. */
import { Component, h } from '../../base/preact.js';
import { Field } from '../../parts/fields.js';
import { forbids } from '../../base/rights.js';
import { FilePick } from '../../parts/filepick.js';
import { Permitted, ScopedButton } from '../../parts/scoped.js';
import { sourceOf, textSource } from './sample.js';

const KINDS = 'CSV or TSV (as spreadsheets save them), JSON, NDJSON, ARFF or svmlight, also ' +
    'compressed with gzip. Up to many gigabytes: nothing is stored before you have seen a preview.';

const SCOPES = ['write']; /* of the preview */

const isField = (element) => /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName);

/* The text area for a table. text: at first; onText(text): the user is ready. */
export class TextEntry extends Component {
    constructor(props) {
        super(props);
        this.state = { text: props.text || '' };
    }

    render({ label, action, onText, onCancel }, { text }) {
        return h('form', {
            class: 'stack', onSubmit: (event) => {
                event.preventDefault();
                onText(text);
            },
        }, [
            h(Field, {
                label, wide: true,
                hint: 'With a line for each row. Rows copied from a spreadsheet fit, too.',
                control: (attributes) => h('textarea', {
                    ...attributes, value: text, rows: 10, spellcheck: false, wrap: 'off',
                    onInput: (event) => this.setState({ text: event.target.value }),
                }),
            }),
            h('div', { class: 'buttons' }, [
                h('button', { type: 'submit', class: 'primary', disabled: text.trim() === '' },
                    action),
                onCancel ? h('button', { type: 'button', onClick: onCancel }, 'Cancel') : null,
            ]),
        ]);
    }
}

/* onSource gets a source (sample.js). Files may be dropped and tables pasted anywhere on the
 * page. label: of the place for files; target: name of the dataset that gets the rows, or null. */
export class SourcePick extends Component {
    constructor(props) {
        super(props);
        this.state = { pasting: false };
        this.over = (event) => event.preventDefault();
        this.drop = (event) => {
            event.preventDefault();
            const [file] = event.dataTransfer.files;
            if (file && !this.forbidden()) {
                void this.takeFile(file);
            }
        };
        this.paste = (event) => {
            if (isField(event.target) || this.forbidden()) {
                return;
            }
            const [file] = event.clipboardData.files;
            const text = event.clipboardData.getData('text/plain');
            if (file) {
                void this.takeFile(file);
            } else if (text.trim() !== '') {
                void this.takeText(text);
            }
        };
    }

    componentDidMount() {
        self.addEventListener('dragover', this.over);
        self.addEventListener('drop', this.drop);
        self.addEventListener('paste', this.paste);
    }

    componentWillUnmount() {
        self.removeEventListener('dragover', this.over);
        self.removeEventListener('drop', this.drop);
        self.removeEventListener('paste', this.paste);
    }

    /* Why the token does not permit to add data; '': it does. */
    forbidden() {
        return forbids(SCOPES, [this.props.target]);
    }

    async takeFile(file) {
        let source;
        try {
            source = await sourceOf(file, file.name);
        } catch (error) {
            this.setState({ error: `“${file.name}” cannot be read: ${error.message}` });
            return;
        }
        this.props.onSource(source);
    }

    async takeText(text) {
        this.props.onSource(await textSource(text, 'pasted'));
    }

    render({ label, target }, { pasting, error }) {
        return h('div', { class: 'stack' }, [
            h(Permitted, {
                scope: SCOPES, names: [target],
                show: (forbidden) => h(FilePick, {
                    label, hint: KINDS, large: true, accept: '', forbidden,
                    onFile: (file) => this.takeFile(file),
                }),
            }),
            error ? h('p', { class: 'problem', role: 'alert' }, error) : null,
            pasting ? h(TextEntry, {
                label: 'The table as text', action: 'Preview the text',
                onText: (text) => this.takeText(text),
                onCancel: () => this.setState({ pasting: false }),
            }) : h('div', { class: 'buttons' }, h(ScopedButton, {
                scope: SCOPES, names: [target], brief: true,
                onClick: () => this.setState({ pasting: true }),
            }, 'Paste or type a table')),
        ]);
    }
}
