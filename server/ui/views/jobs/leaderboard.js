/* The candidates of a search, the best first. */
import { Component, h } from '../../base/preact.js';
import { path } from '../../base/api.js';
import { count, percent, plural, seconds } from '../../base/format.js';
import { saveAnswer } from '../../base/save.js';
import { Badge } from '../../parts/badge.js';
import { METRICS, metricLabel } from '../../parts/metrics.js';
import { announce } from '../../parts/status.js';
import { DataTable } from '../../parts/table.js';
import { candidateText, meanText } from './job_text.js';

function Candidate({ trial, titles, best }) {
    const { title, settings } = candidateText(trial, titles);
    return h('span', { class: 'candidate' }, [
        h('strong', {}, title), best ? ' ' : null,
        best ? h(Badge, { text: best, kind: 'good' }) : null,
        h('span', { class: 'minor' }, settings),
    ]);
}

/* What is to be said of a trial; null: nothing. */
function notesOf(trial) {
    if (trial.error) {
        return h('span', { class: 'error' }, trial.error);
    }
    const notes = [
        trial.unconverged ? 'not converged' : null,
        trial.warning ? `${trial.warning}${trial.warnings > 1
            ? ` (and ${plural(trial.warnings - 1, 'more warning')})` : ''}` : null,
    ].filter(Boolean);
    return notes.length ? h('span', { class: 'minor' }, notes.join('; ')) : null;
}

const columnsOf = ({ leaderboard, titles }) => {
    const { metric, winner } = leaderboard;
    const best = (trial) => (trial.candidate === winner ? 'trained'
        : winner === null && trial.rank === 1 && !trial.error ? 'best so far' : null);
    return [
        { name: 'rank', label: 'Rank', numeric: true, cell: (trial) => count(trial.rank) },
        {
            name: 'candidate', label: 'Candidate',
            value: (trial) => candidateText(trial, titles).title,
            cell: (trial) => h(Candidate, { trial, titles, best: best(trial) }),
        },
        {
            name: 'mean', label: `${metricLabel(metric)} ± error`, numeric: true,
            cell: (trial) => h('span', { class: 'keep-together' }, meanText(trial)),
        },
        {
            name: 'fit_seconds', label: 'Fit', numeric: true,
            cell: (trial) => h('span', { class: 'keep-together' },
                trial.error ? '–' : seconds(trial.fit_seconds)),
        },
        ...(leaderboard.items.some((trial) => trial.share < 1) ? [{
            name: 'share', label: 'Rows tried', numeric: true,
            cell: (trial) => percent(trial.share, 0),
        }] : []),
        {
            name: 'notes', label: 'Notes', sort: false, value: (trial) => trial.error,
            cell: notesOf,
        },
    ];
};

/* leaderboard: as loaded, or null; waits: more trials will come. */
export class Leaderboard extends Component {
    shouldComponentUpdate({ leaderboard, waits, titles }) {
        return leaderboard !== this.props.leaderboard || waits !== this.props.waits ||
            titles !== this.props.titles;
    }

    async save() {
        const { id } = this.props;
        try {
            await saveAnswer(path`/v1/jobs/${id}/leaderboard`, `job-${id}-leaderboard.csv`,
                { accept: 'text/csv' });
        } catch (error) {
            announce(`The leaderboard was not saved: ${error.message}`);
        }
    }

    render({ leaderboard, waits, titles }) {
        const items = leaderboard?.items || [];
        const low = METRICS[leaderboard?.metric]?.low;
        return h('section', { class: 'card leaderboard', 'aria-label': 'Leaderboard' }, [
            h('div', { class: 'head' }, [
                h('h2', {}, 'Leaderboard'),
                h('button', {
                    type: 'button', class: 'quiet', disabled: items.length === 0,
                    onClick: () => this.save(),
                }, 'Save as CSV'),
            ]),
            h('p', { class: 'minor' }, leaderboard
                ? `${plural(leaderboard.trials, 'trial')} ended. ${low === undefined ? ''
                    : low ? 'Smaller is better. ' : ''}Mean over the folds, ± its standard error.`
                : 'Candidates appear here as their trials end.'),
            h('div', { class: waits ? 'leaderboard-room' : null }, items.length > 0
                ? h(DataTable, {
                    caption: 'Candidates, the best first', rows: items, stacks: true,
                    columns: columnsOf({ leaderboard, titles }),
                    rowClass: (trial) => (trial.error ? 'bad-row'
                        : trial.candidate === leaderboard.winner ? 'chosen-row' : null),
                }) : h('p', { class: 'empty' }, waits ? 'The first trial is running …'
                    : 'No trial has ended.')),
        ]);
    }
}
