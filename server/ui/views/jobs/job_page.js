/* One job: live while it runs, its result or its problem afterwards. */
import { Component, h } from '../../base/preact.js';
import { path, post, remove } from '../../base/api.js';
import { methodTitles } from '../../base/catalogue.js';
import { changed } from '../../base/changes.js';
import { count, number, percent, plural, seconds, time } from '../../base/format.js';
import { go, link } from '../../base/place.js';
import { Badge } from '../../parts/badge.js';
import { RequestCode } from '../../parts/code.js';
import { Confirm, Dialog } from '../../parts/dialog.js';
import { Fact } from '../../parts/fact.js';
import { Problem, Warnings } from '../../parts/problem.js';
import { Progress } from '../../parts/progress.js';
import { announce } from '../../parts/status.js';
import { ScopedButton } from '../../parts/scoped.js';
import { IterationCurves, LearningCurve } from './job_curves.js';
import { JobFeed } from './job_feed.js';
import { JobMetrics, JobResult } from './job_result.js';
import { Leaderboard } from './leaderboard.js';
import { isActive, isSearch, methodText, phaseText, remaining, runSeconds, span } from
    './job_text.js';

/* Progress, phase and times of a job that has not ended. The clock ticks here only. */
class LiveStatus extends Component {
    componentDidMount() {
        this.timer = setInterval(() => this.setState({}), 1000);
    }

    componentWillUnmount() {
        clearInterval(this.timer);
    }

    /* Seconds since the start: those of the last report and the time since then. */
    elapsed() {
        const { job, at } = this.props;
        return job.progress ? job.progress.elapsed + (performance.now() - at) / 1000
            : runSeconds(job);
    }

    facts(elapsed) {
        const { job } = this.props;
        const { progress } = job;
        const rest = remaining(job, elapsed);
        const fact = (label, value) => h(Fact, { key: label, label, value });
        return [
            fact('running for', job.state === 'queued' ? '–' : span(elapsed)),
            fact('left at most, about', span(rest)),
            ...(isSearch(job) ? [fact('trials ended', count(progress?.iteration))] : [
                fact('iteration', count(progress?.iteration)),
                fact('loss', number(progress?.loss)),
                fact('gradient', number(progress?.gradient_norm, 2)),
            ]),
        ];
    }

    render({ job, before, cancelling }) {
        const queue = job.state === 'queued' && before !== undefined
            ? (before === 0 ? ': it is the next' : `: ${plural(before, 'job')} before it`) : '';
        const fraction = job.state === 'running' ? job.progress?.fraction : undefined;
        const phase = cancelling ? 'Stopping …' : `${phaseText(job)}${queue}`;
        return h('section', { class: 'card stack job-status', 'aria-label': 'Progress' }, [
            h(Progress, {
                label: `Progress of job ${job.id}`, share: fraction,
                text: fraction === undefined ? phase : `${percent(fraction, 0)} · ${phase}`,
            }),
            h('div', { class: 'facts live' }, this.facts(this.elapsed())),
        ]);
    }
}

/* Asks before a job is cancelled, and says what is kept. */
function CancelDialog({ job, trials, run, onClose }) {
    const searching = job.algorithm === 'search' && job.state === 'running';
    const keeps = searching && trials > 0;
    return h(Dialog, { title: searching ? 'End the search?' : 'Cancel the job?', onClose }, [
        h('p', {}, keeps
            ? `The best candidate of the ${plural(trials, 'trial')} so far is trained and ` +
                'becomes the model. Cancel again to stop that, too.'
            : searching ? 'No candidate has a result yet: the job ends and nothing is kept.'
                : isSearch(job) && job.state === 'running'
                    ? 'The training of the winner stops and nothing is kept.'
                    : 'The job stops and nothing is kept but its request, to be sent again.'),
        h('div', { class: 'buttons' }, [
            h('button', { type: 'button', class: 'danger', onClick: run },
                keeps ? 'End the search and train the best' : 'Cancel the job'),
            h('button', { type: 'button', onClick: onClose }, 'Let it run'),
        ]),
    ]);
}

/* What the job is about, and its times. */
function Facts({ job, titles }) {
    const { target } = job.resolved || job.request || {};
    const { name, version } = job.dataset;
    const rows = [
        ['Model', job.state === 'succeeded'
            ? h('a', { href: link(['models', job.model]) }, job.model) : job.model],
        ['Data', h('a', { href: link(['data', name], { version }) }, `${name}@${version}`)],
        target ? ['Target', target] : null,
        ['Method', methodText(job, titles)],
        job.submitted_by ? ['Sent by', job.submitted_by] : null,
        ['Sent', time(job.created_at)],
        job.started_at ? ['Started', time(job.started_at)] : null,
        job.finished_at ? ['Ended', time(job.finished_at)] : null,
        job.finished_at && job.started_at ? ['Duration', seconds(runSeconds(job))] : null,
        job.attempts > 1 ? ['Attempts', count(job.attempts)] : null,
    ].filter(Boolean);
    return h('section', { class: 'card', 'aria-label': 'About this job' }, [
        h('h2', {}, 'About this job'),
        h('dl', {}, rows.flatMap(([term, text]) => [h('dt', {}, term), h('dd', {}, text)])),
    ]);
}

/* Why a job has no result. */
function Ended({ job }) {
    if (job.state === 'cancelled') {
        return h('section', { class: 'card job-status', 'aria-label': 'Result' }, h('p', {},
            'The job was cancelled and has no result. Its request is kept: you can edit it and ' +
            'send it again.'));
    }
    const error = { document: job.error || {}, message: job.error?.detail || 'The job failed.' };
    return h('section', { class: 'job-status', 'aria-label': 'Problem' }, h(Problem, { error }));
}

export class JobPage extends Component {
    constructor(props) {
        super(props);
        this.state = {
            job: null, history: null, leaderboard: null, error: null, titles: {}, asks: null,
            cancelling: false, problem: null,
        };
    }

    componentDidMount() {
        this.feed = new JobFeed(this.props.id, (part) => this.changed(part));
        this.feed.open();
        methodTitles().then((titles) => this.feed && this.setState({ titles }));
    }

    componentWillUnmount() {
        this.feed.close();
        this.feed = null;
    }

    changed({ ended, ...part }) {
        this.setState(part);
        if (ended) {
            announce(`Job ${part.job.id} has ${part.job.state === 'cancelled' ? 'been cancelled'
                : part.job.state}`);
            this.setState({ cancelling: false, asks: null });
        }
    }

    async cancel() {
        const searching = this.state.job.algorithm === 'search';
        this.setState({ asks: null, problem: null, cancelling: !searching });
        try {
            await post(path`/v1/jobs/${this.props.id}/cancel`);
            announce(searching ? 'The search ends' : 'The job is being cancelled');
        } catch (problem) {
            this.setState({ problem, cancelling: false });
        }
    }

    async remove() {
        this.setState({ asks: null, problem: null });
        try {
            await remove(path`/v1/jobs/${this.props.id}`);
            announce(`Job ${this.props.id} was deleted`);
            changed('jobs');
            go(['jobs']);
        } catch (problem) {
            this.setState({ problem });
        }
    }

    buttons(job) {
        return h('div', { class: 'buttons' }, isActive(job) ? [
            h(ScopedButton, {
                scope: 'train', class: 'danger', disabled: this.state.cancelling,
                onClick: () => this.setState({ asks: 'cancel' }),
            }, 'Cancel'),
        ] : [
            h('a', {
                class: `button${job.state === 'failed' ? ' primary' : ''}`,
                href: link(['train'], { job: job.id }),
            }, 'Edit and send again'),
            h(ScopedButton, {
                scope: 'train', class: 'danger', onClick: () => this.setState({ asks: 'delete' }),
            }, 'Delete'),
        ]);
    }

    dialog({ job, asks, leaderboard }) {
        const onClose = () => this.setState({ asks: null });
        if (asks === 'cancel') {
            return h(CancelDialog, {
                job, trials: leaderboard?.items.filter((trial) => !trial.error).length || 0,
                run: () => this.cancel(), onClose,
            });
        }
        return asks === 'delete' ? h(Confirm, {
            title: `Delete job ${job.id}?`, run: () => this.remove(), onClose,
            text: 'Its request, history and leaderboard will be gone. Its model stays.',
        }) : null;
    }

    /* Leaderboard, curves and metrics; those that the job has. */
    parts({ job, history, leaderboard, titles }, query) {
        const { result } = job;
        const active = isActive(job);
        const search = isSearch(job);
        return [
            search ? h(Leaderboard, {
                key: 'leaderboard', leaderboard, waits: active, titles, id: job.id,
            }) : null,
            history?.length || (active && !search) ? h(IterationCurves, {
                key: 'curves', history, waits: active, query, id: job.id,
            }) : null,
            result?.learning_curve?.length ? h(LearningCurve, {
                key: 'learning', points: result.learning_curve, query, id: job.id,
            }) : null,
            result?.metrics?.train || result?.metrics?.validation
                ? h(JobMetrics, { key: 'metrics', metrics: result.metrics }) : null,
        ].filter(Boolean);
    }

    page(job) {
        const { query } = this.props;
        const { error, before, at, problem, cancelling, titles } = this.state;
        const active = isActive(job);
        const request = job.request || job.resolved;
        const warnings = h(Warnings, { warnings: job.warnings });
        return h('section', { class: 'stack' }, [
            h('div', { class: 'head' }, [
                h('h1', {}, [`Job ${job.id}: ${job.model} `, h(Badge, { text: job.state })]),
                this.buttons(job),
            ]),
            error ? h(Problem, { error }) : null,
            problem ? h(Problem, { error: problem }) : null,
            active ? h(LiveStatus, { job, at, before, cancelling })
                : job.result ? h(JobResult, { job }) : h(Ended, { job }),
            active ? null : warnings,
            ...this.parts(this.state, query),
            active ? warnings : null,
            h('div', { class: 'split' }, [
                request ? h(RequestCode, {
                    title: 'The request of this job',
                    request: { method: 'POST', path: '/v1/jobs', body: request },
                }) : h('p', {}, 'The request of this job is not known.'),
                h(Facts, { job, titles }),
            ]),
            h('p', {}, h('a', { href: link(['jobs']) }, 'All jobs')),
            this.dialog(this.state),
        ]);
    }

    render({ id }, { job, error }) {
        if (job) {
            return this.page(job);
        }
        return h('section', { class: 'stack' }, [
            h('h1', {}, `Job ${id}`),
            error ? h(Problem, { error, home: 'jobs', retry: () => this.feed.resume() })
                : h('p', { class: 'loading', role: 'status' }, 'Loading the job …'),
        ]);
    }
}
