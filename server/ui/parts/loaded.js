/* Data that a view loads: shows that it is loading, its error with a button, or the data. It loads
 * again when `of` changes, after a change of its kind in this tab, when the connection is back,
 * when the token changes, and every `every` ms; the data shown before stays meanwhile. */
import { Component, h } from '../base/preact.js';
import { changes } from '../base/changes.js';
import { connection } from '../base/connection.js';
import { tokenChanged } from '../base/session.js';
import { Problem } from './problem.js';

/*   load   (signal) => Promise of the data
 *   show   (data, reload) => a node
 *   of     what the data depends on (compared as JSON)
 *   kinds  kinds of changes ('datasets', …) after which it loads again
 *   every  ms, or (data) => ms; undefined: only once
 *   what   name of the data: "the datasets"
 *   title  heading of the view until the data have come; undefined: none
 *   home   view or place that leads to others, if the data are not there
 */
export class Loaded extends Component {
    constructor(props) {
        super(props);
        this.state = { data: undefined, error: null };
        this.reload = this.reload.bind(this);
    }

    componentDidMount() {
        this.ends = [
            changes.listen((kind) => (this.props.kinds || []).includes(kind) && this.reload()),
            connection.listen((state) => state === 'up' && this.reload()),
            tokenChanged.listen(this.reload),
        ];
        void this.reload();
    }

    componentDidUpdate(before) {
        if (JSON.stringify(before.of) !== JSON.stringify(this.props.of)) {
            this.setState({ data: undefined, error: null });
            void this.reload();
        }
    }

    componentWillUnmount() {
        this.ends.forEach((end) => end());
        clearTimeout(this.timer);
        this.abort?.abort();
        this.abort = null;
    }

    async reload() {
        clearTimeout(this.timer);
        this.abort?.abort();
        const abort = new AbortController();
        this.abort = abort;
        let state;
        try {
            state = { data: await this.props.load(abort.signal), error: null };
        } catch (error) {
            state = { error };
        }
        if (this.abort !== abort || abort.signal.aborted) {
            return;
        }
        this.setState(state);
        const { every } = this.props;
        const wait = typeof every === 'function' ? every(state.data) : every;
        if (wait) {
            this.timer = setTimeout(this.reload, wait);
        }
    }

    render({ show, title, home, what = 'the data' }, { data, error }) {
        const stale = error && error.status === 0 && data !== undefined;
        const heading = title ? h('h1', {}, title) : null;
        if (error && !stale) {
            return h('div', { class: 'loaded' },
                [heading, h(Problem, { error, home, retry: this.reload })]);
        }
        if (data === undefined) {
            return h('div', { class: 'loaded' },
                [heading, h('p', { class: 'loading', role: 'status' }, `Loading ${what} …`)]);
        }
        return h('div', { class: 'loaded' }, show(data, this.reload));
    }
}
