/* Saves the rows of a dataset as a file, with its progress. */
import { Component, h } from '../../base/preact.js';
import { path } from '../../base/api.js';
import { bytes } from '../../base/format.js';
import { saveAnswer } from '../../base/save.js';
import { Progress } from '../../parts/progress.js';
import { announce } from '../../parts/status.js';

/* dataset: {name, version, rows}. label: of the button. */
export class Download extends Component {
    constructor(props) {
        super(props);
        this.state = { received: null };
    }

    componentWillUnmount() {
        this.abort?.abort();
    }

    async save() {
        const { name, version, rows, sparse } = this.props.dataset;
        const abort = new AbortController();
        this.abort = abort;
        this.setState({ received: 0 });
        try {
            await saveAnswer(path`/v1/datasets/${name}/rows`,
                `${name}-${version}.${sparse ? 'svm' : 'csv'}`, {
                    query: { version, limit: Math.max(rows, 1) }, signal: abort.signal,
                    accept: sparse ? 'text/x-svmlight' : 'text/csv',
                    progress: (received) => this.setState({ received }),
                });
        } catch (error) {
            if (error.name !== 'AbortError') {
                announce(`The download failed: ${error.message}`);
            }
        }
        if (this.abort === abort) {
            this.setState({ received: null });
        }
    }

    render({ dataset, label }, { received }) {
        if (received !== null) {
            return h('span', { class: 'buttons' }, [
                h(Progress, { label: 'Download', text: `${bytes(received)} received` }),
                h('button', { type: 'button', onClick: () => this.abort.abort() },
                    'Cancel the download'),
            ]);
        }
        return h('button', { type: 'button', onClick: () => this.save() },
            label || (dataset.sparse ? 'Download' : 'Download CSV'));
    }
}
