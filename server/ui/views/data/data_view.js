/* The view "Data": the list of datasets and what is added to it, or the page of a dataset. */
import { h } from '../../base/preact.js';
import { DatasetList } from './dataset_list.js';
import { DatasetPage } from './dataset_page.js';

export function DataView({ path: [name], query }) {
    return name === undefined ? h(DatasetList, { query })
        : h(DatasetPage, { key: name, name, query });
}
