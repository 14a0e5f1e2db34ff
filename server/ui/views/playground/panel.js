/* A panel: a model of its own, trained on the points whenever they or its request change, and what
 * is drawn of it. */
import { Component, h } from '../../base/preact.js';
import { connection } from '../../base/connection.js';
import { number, percent, plural, seconds } from '../../base/format.js';
import { tokenChanged } from '../../base/session.js';
import { Problem, Warnings } from '../../parts/problem.js';
import { DRAWINGS } from './drawings.js';
import { Trainer, lack } from './scratch.js';
import { CLASSES } from './shapes.js';
import { StartLink } from './start.js';

/* "58 of 60 points are right (96.7 %)". */
function rightText(job) {
    const metrics = job.result.metrics?.train;
    if (!metrics || metrics.accuracy === undefined) {
        return '';
    }
    const right = Math.round(metrics.accuracy * metrics.rows);
    return `${right} of ${plural(metrics.rows, 'point')} right (${percent(metrics.accuracy)})`;
}

/* The same for a step of the perceptron. */
function stepText({ snapshots, points, grid }, step) {
    const last = Math.min(step, snapshots.length - 1);
    const { w, w0 } = snapshots[last];
    const right = points.filter((p) => CLASSES[p.c] ===
        String(grid.classes[w[0] * p.x + w[1] * p.y + w0 >= 0 ? 1 : 0])).length;
    return `Step ${last} of ${snapshots.length - 1}: ${right} of ` +
        `${plural(points.length, 'point')} right`;
}

function supportText({ support }) {
    if (!support) {
        return '';
    }
    const rows = new Set(support.machines.flatMap((machine) => machine.rows));
    const inside = support.machines.reduce((n, { margin }) =>
        n + margin.filter((where) => where === 'inside').length, 0);
    return `${plural(rows.size, 'support vector')}, ${inside} inside the margin`;
}

function factsOf(trained, expected) {
    const { job } = trained;
    const { margin } = job.result.details;
    const wide = trained.weights.w && trained.support?.standardized === false && margin > 0
        ? `margin ${number(2 * margin, 3)} wide` : '';
    const time = job.result.details?.seconds?.fit;
    const unconverged = !expected && job.result.converged === false
        ? 'stopped before the optimum' : '';
    return [rightText(job), supportText(trained), wide, unconverged,
        time === undefined ? '' : `trained in ${seconds(time)}`].filter(Boolean).join(' · ');
}

/*   panel     of figures.js
 *   suffix    of its model's name
 *   points, values  of the drawing; editor: passed to the plane
 *   started   false: nothing is trained yet
 *   onError   gets the error of the last training, null after a good one
 */
export class Panel extends Component {
    constructor(props) {
        super(props);
        this.state = { busy: false, trained: null, error: null, job: null };
    }

    componentDidMount() {
        this.trainer = new Trainer(this.props.suffix, (change) => {
            this.setState(change);
            if (change.trained && this.props.panel.show?.steps) {
                this.props.onSteps(Math.max(change.trained.snapshots.length - 1, 1));
            }
            if (change.error !== undefined) {
                this.props.onError?.(change.error);
            }
        });
        const again = () => this.state.error && this.want();
        this.ends = [
            connection.listen((state) => state === 'up' && again()), tokenChanged.listen(again),
        ];
        this.want();
    }

    componentDidUpdate(before) {
        const other = this.requestText(before) !== this.requestText();
        const starts = before.started !== this.props.started;
        if (other || starts || before.points !== this.props.points) {
            this.want();
        }
    }

    componentWillUnmount() {
        this.trainer.stop();
        this.ends.forEach((end) => end());
    }

    request({ panel, values } = this.props) {
        return panel.request ? panel.request(values) : null;
    }

    requestText(props = this.props) {
        return JSON.stringify(this.request(props));
    }

    want() {
        const request = this.request();
        const { panel, points, started } = this.props;
        if (!request || !started) {
            return;
        }
        if (lack(points, request)) {
            this.trainer.want(null);
            this.setState({ trained: null, error: null, busy: false });
            return;
        }
        this.trainer.want({
            points, request,
            outputs: (...call) =>
                DRAWINGS[panel.draw || 'plane'].outputs(...call, panel.show || {}),
        });
    }

    status({ busy, trained, error, job }) {
        const { panel, points, values, started } = this.props;
        const request = this.request();
        if (!request) {
            return '';
        }
        if (!started) {
            return 'Not trained yet.';
        }
        const missing = lack(points, request);
        if (missing) {
            return missing;
        }
        if (error?.status === 0) {
            return 'No answer. It is trained when the daemon answers again.';
        }
        if (busy) {
            const share = job?.progress?.fraction;
            return share > 0 && share < 1 ? `Training … ${percent(share, 0)}` : 'Training …';
        }
        return error || !trained || panel.draw ? ''
            : panel.show?.steps && trained.snapshots.length ? stepText(trained, values.step)
                : factsOf(trained, panel.expected);
    }

    render({ panel, points, values, editor, suffix }, state) {
        const { trained, error } = state;
        const { show } = DRAWINGS[panel.draw || 'plane'];
        const isPlane = (panel.draw || 'plane') === 'plane';
        const drawn = isPlane || trained || !panel.request;
        return h('section', { class: 'card play-panel', 'aria-label': panel.title }, [
            h('div', {}, [
                h('h2', {}, panel.title),
                panel.note ? h('p', { class: 'minor' }, panel.note) : null,
            ]),
            drawn ? h(show, {
                label: panel.title, name: `playground-${suffix}`, trained, points, values, editor,
                show: panel.show || {},
            }) : h('div', { class: 'play-empty' }),
            h('div', { class: 'stack' }, [
                h('p', {
                    class: `play-facts${state.busy ? ' busy' : ''}`, role: 'status',
                }, this.status(state)),
                isPlane && editor.link ? h(StartLink, {
                    class: 'minor', href: editor.link(this.request()),
                }, 'Other methods on these points') : null,
                error && error.status !== 0
                    ? h(Problem, { error, retry: () => this.want() }) : null,
                trained && !panel.expected
                    ? h(Warnings, { warnings: trained.job.warnings, title: 'Note' }) : null,
            ]),
        ]);
    }
}
