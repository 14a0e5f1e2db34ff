/* The page: the frame around the views, and the table of views. */
import { Component, h, render } from './base/preact.js';
import { get, url } from './base/api.js';
import { marked } from './base/bidi.js';
import { connection } from './base/connection.js';
import { link, place, placeChanged } from './base/place.js';
import { loadRights } from './base/rights.js';
import { setToken, token, tokenChanged, tokenNeeded } from './base/session.js';
import { Dialog } from './parts/dialog.js';
import { TextField } from './parts/fields.js';
import { Status } from './parts/status.js';
import { DataView } from './views/data/data_view.js';
import { TrainView } from './views/train/train_view.js';
import { JobsView } from './views/jobs/jobs_view.js';
import { ModelsView } from './views/models/models_view.js';
import { TryView } from './views/try/try_view.js';
import { BoundariesView } from './views/boundaries/boundaries_view.js';
import { PlaygroundView } from './views/playground/playground_view.js';

/* By the first part of the place. A view gets the rest of the path and the query. */
const VIEWS = {
    data: { label: 'Data', view: DataView },
    train: { label: 'Train', view: TrainView },
    jobs: { label: 'Jobs', view: JobsView },
    models: { label: 'Models', view: ModelsView },
    try: { label: 'Try it', view: TryView },
    boundaries: { label: 'Boundaries', view: BoundariesView },
    playground: { label: 'Playground', view: PlaygroundView },
};

class TokenDialog extends Component {
    constructor(props) {
        super(props);
        this.state = { text: '' };
    }

    render({ problem, onClose }, { text }) {
        const save = (event) => {
            event.preventDefault();
            setToken(text.trim());
            onClose();
        };
        return h(Dialog, { title: 'Token', onClose }, [
            problem ? h('p', { class: 'problem' }, problem.message) : null,
            h('p', {}, 'The token is kept in this tab and forgotten when it is closed.'),
            h('form', { onSubmit: save }, [
                h(TextField, {
                    label: 'Token', type: 'password', value: text, required: true,
                    hint: 'It begins with discern_ and is made by: discernd token add',
                    onInput: (value) => this.setState({ text: value }),
                }),
                h('div', { class: 'buttons' }, [
                    h('button', { type: 'submit', class: 'primary' }, 'Use this token'),
                    token() ? h('button', {
                        type: 'button',
                        onClick: () => {
                            setToken('');
                            onClose();
                        },
                    }, 'Forget the token') : null,
                    h('button', { type: 'button', onClick: onClose }, 'Cancel'),
                ]),
            ]),
        ]);
    }
}

function Unknown({ path }) {
    return h('section', {}, [
        h('h1', {}, 'Nothing here'),
        h('p', {}, ['There is no view “', path.join('/'), '”. ',
            h('a', { href: link(['data']) }, 'To the data')]),
    ]);
}

class App extends Component {
    constructor(props) {
        super(props);
        this.state = {
            place: place(), lost: false, asks: null, known: token() !== '', version: '',
        };
    }

    componentDidMount() {
        placeChanged.listen((where) => this.moved(where));
        connection.listen((state) => this.setState({ lost: state === 'lost' }));
        tokenChanged.listen((value) => {
            this.setState({ known: value !== '' });
            void this.loadVersion();
        });
        tokenNeeded.listen((problem) => {
            this.setState(({ asks, known }) => ({
                asks: asks || { problem }, known: known && problem.status !== 401,
            }));
        });
        void this.loadVersion();
        void loadRights();
        this.setTitle();
    }

    async loadVersion() {
        try {
            this.setState({ version: (await get('/version')).version });
        } catch {
            /* shown by the views */
        }
    }

    /* Another view or another thing: the focus moves to its heading, as after a page load. */
    moved(where) {
        const before = this.state.place.path.join('/');
        this.setState({ place: where }, () => {
            this.setTitle();
            if (before !== where.path.join('/')) {
                self.scrollTo(0, 0);
                this.main.focus({ preventScroll: true });
            }
        });
    }

    setTitle() {
        const { path } = this.state.place;
        const view = VIEWS[path[0] || 'data'];
        const parts = [path[1], view ? view.label : null, 'Discern'];
        document.title = marked(parts.filter(Boolean).join(' · '));
    }

    render(props, { place: where, lost, asks, known, version }) {
        const name = where.path[0] || 'data';
        const entry = Object.hasOwn(VIEWS, name) ? VIEWS[name] : null;
        return h('div', { class: 'page' }, [
            h('a', {
                class: 'skip', href: '#main',
                onClick: (event) => {
                    event.preventDefault();
                    this.main.focus();
                },
            }, 'Skip to the content'),
            h('header', { class: 'top' }, [
                h('a', { class: 'brand', href: link(['data']) }, 'Discern'),
                h('nav', { 'aria-label': 'Views' }, h('ul', {},
                    Object.entries(VIEWS).map(([key, { label }]) => h('li', { key }, h('a', {
                        href: link([key]), 'aria-current': key === name ? 'page' : null,
                    }, label))))),
                h('button', {
                    type: 'button', class: 'quiet', onClick: () => this.setState({ asks: {} }),
                }, known ? 'Token ✓' : 'Token'),
            ]),
            h('div', { class: 'banner-box', role: 'status' }, lost
                ? h('p', { class: 'banner' }, 'The daemon does not answer. Trying again …') : null),
            h('main', { id: 'main', tabindex: '-1', ref: (main) => { this.main = main; } },
                entry ? h(entry.view, { key: name, path: where.path.slice(1), query: where.query })
                    : h(Unknown, { path: where.path })),
            h('footer', { class: 'bottom' }, [
                h('span', {}, version ? `Discern ${version}` : 'Discern'),
                h('a', { href: url('/docs').href }, 'Manual'),
                h('a', { href: new URL('licences.txt', import.meta.url).href }, 'Licences'),
            ]),
            h(Status),
            asks ? h(TokenDialog, {
                problem: asks.problem, onClose: () => this.setState({ asks: null }),
            }) : null,
        ]);
    }
}

if (location.hash === '' || location.hash === '#') {
    history.replaceState(null, '', link(['data']));
}
const root = document.getElementById('app');
root.textContent = '';
render(h(App), root);
