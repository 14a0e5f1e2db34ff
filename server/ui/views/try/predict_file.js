/* A file of rows to be predicted. */
import { Component, h } from '../../base/preact.js';
import { bytes, count, plural } from '../../base/format.js';
import { csv, saveBlob, saveText } from '../../base/save.js';
import { RequestCode } from '../../parts/code.js';
import { Check } from '../../parts/fields.js';
import { FilePick } from '../../parts/filepick.js';
import { Problem } from '../../parts/problem.js';
import { Progress } from '../../parts/progress.js';
import { Permitted } from '../../parts/scoped.js';
import { announce } from '../../parts/status.js';
import { DataTable } from '../../parts/table.js';
import { FileRun } from './file_run.js';

const SHOWN_FAULTS = 100;
const PACE = 200; /* ms between two drawings */

function Faults({ faults, nFaults, name, isJson }) {
    return h('div', { class: 'stack' }, [
        h('p', {}, `${plural(nFaults, 'row')} of the file ${nFaults === 1 ? 'has' : 'have'} no ` +
            'prediction:'),
        h(DataTable, {
            caption: 'Rows without a prediction', sort: false, rows: faults, most: SHOWN_FAULTS,
            columns: [
                { name: 'line', label: `${isJson ? 'Row' : 'Line'} of the file`, numeric: true,
                    cell: ({ line }) => count(line) },
                { name: 'text', label: 'What is wrong' },
            ],
        }),
        h('p', {}, h('button', {
            type: 'button',
            onClick: () => saveText(csv([isJson ? 'row' : 'line', 'fault'],
                faults.map(({ line, text }) => [line, text])), `${name}-faults.csv`, 'text/csv'),
        }, 'Save the list of faults')),
    ]);
}

/* where, model: as loaded. */
export class PredictFile extends Component {
    constructor(props) {
        super(props);
        this.state = { file: null, run: null, repeat: true, done: false, error: null, read: 0 };
    }

    componentWillUnmount() {
        this.abort?.abort();
    }

    async start(file) {
        const { where, model } = this.props;
        this.abort?.abort();
        const abort = new AbortController();
        this.abort = abort;
        const mine = () => this.abort === abort && !abort.signal.aborted;
        let drawn = 0;
        const run = new FileRun({
            file, where: `${where}/predict`, model, repeat: this.state.repeat,
            output: `label,probabilities${model.conformal ? ',set' : ''}`, signal: abort.signal,
            onProgress: () => {
                const now = performance.now();
                if (now - drawn >= PACE && mine()) {
                    drawn = now;
                    this.setState({ read: run.read });
                }
            },
        });
        this.setState({ file, run, done: false, error: null, read: 0 });
        try {
            await run.run();
            if (mine()) {
                this.setState({ done: true });
                announce(`${plural(run.rows, 'row')} predicted`);
            }
        } catch (error) {
            if (mine()) {
                this.setState({ error });
            }
        }
    }

    cancel() {
        this.abort.abort();
        this.setState({ file: null, run: null });
        announce('The predictions were cancelled');
    }

    result() {
        const { run, file } = this.state;
        const ending = run.answerType === 'text/csv' ? 'csv' : 'ndjson';
        const base = file.name.replace(/(\.\w+)?(\.gz)?$/, '');
        const blob = run.blob();
        return h('div', { class: 'stack' }, [
            h('p', {}, [h('strong', {}, `${plural(run.rows, 'row')} predicted`),
                ` from ${file.name}.`]),
            h('div', { class: 'buttons' }, h('button', {
                type: 'button', class: 'primary',
                onClick: () => saveBlob(blob, `${base}-predictions.${ending}`),
            }, `Save the predictions (${bytes(blob.size)})`)),
            run.nFaults > 0
                ? h(Faults, {
                    faults: run.faults, nFaults: run.nFaults, name: base,
                    isJson: run.format.kind === 'json',
                }) : null,
            h(RequestCode, { title: 'The same in one call', request: run.request() }),
        ]);
    }

    render(props, { file, run, repeat, done, error, read }) {
        const running = file && !done && !error;
        return h('section', { class: 'card stack', 'aria-label': 'A file' }, [
            h('h2', {}, 'A file of rows'),
            h(Permitted, {
                scope: 'predict',
                show: (forbidden) => h(FilePick, {
                    label: 'Drop a file with rows to predict, or choose one', forbidden,
                    accept: '.csv,.tsv,.txt,.ndjson,.jsonl,.json,.arff,.svm,.libsvm,.svmlight,.gz',
                    hint: 'CSV with the column names of the training table (others are ' +
                        'ignored), TSV, JSON, NDJSON, ARFF or svmlight, of any length: it is ' +
                        'sent in pieces, and nothing of it is stored.',
                    onFile: (chosen) => this.start(chosen),
                }),
            }),
            h(Check, {
                label: 'Repeat the columns of the file before the predictions', checked: repeat,
                disabled: running, onChange: (on) => this.setState({ repeat: on }),
            }),
            running ? h('div', { class: 'stack' }, [
                h(Progress, {
                    label: `Predicting ${file.name}`, share: file.size ? read / file.size : null,
                    text: `${bytes(read)} of ${bytes(file.size)}, ${plural(run.rows, 'row')}`,
                }),
                h('div', { class: 'buttons' }, h('button', {
                    type: 'button', onClick: () => this.cancel(),
                }, 'Cancel')),
            ]) : null,
            error ? h(Problem, { error, retry: () => this.start(file) }) : null,
            error && run.rows > 0 ? h('p', {}, `It ended after ${plural(run.rows, 'row')}.`) : null,
            done ? this.result() : null,
        ]);
    }
}
