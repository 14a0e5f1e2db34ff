/* A plot: an SVG that d3 draws, with a caption, buttons that save it as SVG and its data as CSV,
 * and its data as a table. */
import { Component, h } from '../base/preact.js';
import { d3 } from '../base/d3.js';
import { csv, saveText } from '../base/save.js';
import { number } from '../base/format.js';
import { DataTable } from './table.js';

/* Properties that a saved SVG takes from the style sheet. */
const SAVED = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-opacity',
    'stroke-dasharray', 'opacity', 'font-family', 'font-size', 'font-weight', 'text-anchor',
    'dominant-baseline', 'visibility'];

/* Returns the SVG as a document of its own: with styles as attributes and a background. */
function standalone(svg) {
    const copy = svg.cloneNode(true);
    const originals = [svg, ...svg.querySelectorAll('*')];
    const copies = [copy, ...copy.querySelectorAll('*')];
    originals.forEach((element, i) => {
        const style = getComputedStyle(element);
        for (const property of SAVED) {
            copies[i].setAttribute(property, style.getPropertyValue(property));
        }
        copies[i].removeAttribute('style');
        copies[i].removeAttribute('class');
    });
    const { width, height } = svg.viewBox.baseVal;
    copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    copy.setAttribute('width', width);
    copy.setAttribute('height', height);
    const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
    ground.setAttribute('width', width);
    ground.setAttribute('height', height);
    ground.setAttribute('fill', getComputedStyle(document.body).backgroundColor);
    copy.prepend(ground);
    return new XMLSerializer().serializeToString(copy);
}

/*   title   heading of the plot; label: what it shows, for screen readers
 *   name    base name of saved files
 *   height  px, or (width) => px
 *   of      what the drawing depends on; it is drawn again when this is another value (===)
 *   draw    (svg, {width, height}) => draws into the empty d3 selection
 *   table   {names, rows} or a function that returns it; undefined: neither table nor CSV. The
 *           function gets true for the CSV: it may return more rows than are good to read,
 *           and on the page a `note` that says which ones these are
 *   attributes  further ones of the SVG element: handlers, tabindex, another role
 *   children  shown between title and plot: a legend, controls
 */
export class Figure extends Component {
    constructor(props) {
        super(props);
        this.state = { open: false };
        this.width = 0;
    }

    componentDidMount() {
        this.observer = new ResizeObserver(([entry]) => {
            const width = Math.floor(entry.contentRect.width);
            if (width > 0 && width !== this.width) {
                this.width = width;
                this.draw();
            }
        });
        this.observer.observe(this.box);
    }

    componentDidUpdate(before) {
        if (before.of !== this.props.of || before.height !== this.props.height) {
            this.draw();
        }
    }

    componentWillUnmount() {
        this.observer.disconnect();
    }

    heightFor(width) {
        const { height = 280 } = this.props;
        return typeof height === 'function' ? height(width) : height;
    }

    draw() {
        if (this.width === 0) {
            return;
        }
        const size = { width: this.width, height: this.heightFor(this.width) };
        const svg = d3.select(this.svg);
        svg.selectAll('*').remove();
        svg.attr('viewBox', `0 0 ${size.width} ${size.height}`)
            .attr('width', size.width).attr('height', size.height);
        this.props.draw(svg, size);
    }

    table(whole = false) {
        const { table } = this.props;
        return typeof table === 'function' ? table(whole) : table;
    }

    saveCsv() {
        const { names, rows } = this.table(true);
        saveText(csv(names, rows), `${this.props.name}.csv`, 'text/csv');
    }

    render({ title, label, name, table, attributes, children, level = 3 }, { open }) {
        const data = open ? this.table() : null;
        const height = this.heightFor(this.width || 480);
        return h('figure', { class: 'plot' }, [
            title ? h(`h${level}`, {}, title) : null,
            children && children.length ? h('div', { class: 'plot-notes' }, children) : null,
            h('div', { class: 'plot-box', ref: (box) => { this.box = box; } },
                h('svg', {
                    role: 'img', 'aria-label': label || title, height,
                    ...attributes, ref: (svg) => { this.svg = svg; },
                })),
            h('div', { class: 'plot-tools' }, [
                h('button', {
                    type: 'button', class: 'quiet',
                    'aria-label': `Save “${title || label}” as SVG`,
                    onClick: () => saveText(standalone(this.svg), `${name}.svg`, 'image/svg+xml'),
                }, 'SVG'),
                table ? h('button', {
                    type: 'button', class: 'quiet',
                    'aria-label': `Save the data of “${title || label}” as CSV`,
                    onClick: () => this.saveCsv(),
                }, 'CSV') : null,
                table ? h('details', {
                    open, onToggle: (event) => this.setState({ open: event.target.open }),
                }, [
                    h('summary', {}, 'Table'),
                    data?.note ? h('p', { class: 'minor' }, data.note) : null,
                    data ? h(DataTable, {
                        caption: `Data of “${title || label}”`,
                        columns: data.names.map((text, i) => ({
                            name: i, label: text, numeric: typeof data.rows[0]?.[i] === 'number',
                            cell: (row) => (typeof row[i] === 'number' ? number(row[i], 6)
                                : row[i]),
                        })),
                        rows: data.rows,
                    }) : null,
                ]) : null,
            ]),
        ]);
    }
}
