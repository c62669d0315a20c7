// The values of fields with their counts: several can be chosen, and each can be excluded.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Bucket } from "../api/types";
import { chosen, toggle, without } from "../query/edit";
import type { Aggregates } from "../state/aggregates";
import { valueFacet } from "../state/aggregates";
import { countable, facetFields } from "../state/fields";
import type { Latest } from "../state/latest";
import { usePage } from "../state/page";
import * as format from "../text/format";
import { visible } from "../text/show";
import { Icon } from "./icon";
import { Shown } from "./shown";

/** Values shown before "more". */
const FEW = 7;

interface FacetsProperties {
  aggregates: Latest<Aggregates>;
  /** True if there is no answer to count. */
  broken: boolean;
  /** True if a narrow page shows the filters. */
  unfolded: boolean;
}

export function Facets({ aggregates, broken, unfolded }: FacetsProperties): JSX.Element | null {
  const { state, info, go } = usePage();
  const fields = facetFields(info, state);
  const others = countable(info).filter((name) => !fields.includes(name));
  if (broken || state.like !== null || (fields.length === 0 && others.length === 0)) return null;
  return (
    <section
      id="filters"
      class={unfolded ? "facets unfolded" : "facets"}
      aria-label="Filters"
      aria-busy={aggregates.loading}
    >
      {fields.map((field) => (
        <Facet
          key={field}
          field={field}
          aggregates={aggregates.value}
          remove={() => go({ facets: fields.filter((each) => each !== field) }, true)}
        />
      ))}
      {others.length > 0 && (
        <select
          aria-label="Add a filter"
          value=""
          onChange={(event) => go({ facets: [...fields, event.currentTarget.value] }, true)}
        >
          <option value="">Add a filter …</option>
          {others.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
      {aggregates.problem !== null && <p class="fine warned">No counts: {aggregates.problem.message}</p>}
      {aggregates.value?.partial === true && (
        <p class="fine warned">Time was up: these counts are too low.</p>
      )}
    </section>
  );
}

interface FacetProperties {
  field: string;
  aggregates: Aggregates | null;
  remove: () => void;
}

function Facet({ field, aggregates, remove }: FacetProperties): JSX.Element {
  const { state, go } = usePage();
  const [all, setAll] = useState(false);
  const answer = aggregates?.facets.get(valueFacet(field));
  const { included, excluded } = chosen(state.q, field);
  const buckets = withChosen(answer?.buckets ?? [], [...included, ...excluded]);
  const most = Math.max(1, ...buckets.map((bucket) => bucket.count));
  const shown = all ? buckets : buckets.slice(0, FEW);
  const selected = included.length + excluded.length;
  return (
    <fieldset class="facet">
      <legend>{field}</legend>
      <span class="facet-tools">
        {selected > 0 && (
          <button type="button" class="link" onClick={() => go({ q: without(state.q, field) })}>
            any
          </button>
        )}
        <button
          type="button"
          class="plain"
          aria-label={`Hide the filter ${field}`}
          title="Hide this filter"
          onClick={remove}
        >
          <Icon name="close" />
        </button>
      </span>
      {answer !== undefined && buckets.length === 0 && <p class="fine">no values</p>}
      <ul>
        {shown.map((bucket) => (
          <FacetValue
            key={String(bucket.value)}
            field={field}
            bucket={bucket}
            most={most}
            included={included}
            excluded={excluded}
          />
        ))}
      </ul>
      <p class="fine">
        {buckets.length > FEW && (
          <button type="button" class="link" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? "fewer" : `${buckets.length - FEW} more`}
          </button>
        )}{" "}
        {answer !== undefined && answer.other > 0 && `${format.count(answer.other)} with others`}
      </p>
    </fieldset>
  );
}

/** The buckets, and chosen values that are not among them. */
function withChosen(buckets: Bucket[], values: string[]): Bucket[] {
  const known = new Set(buckets.map((bucket) => String(bucket.value)));
  const missing = values.filter((value) => !known.has(value)).map((value): Bucket => ({ value, count: 0 }));
  return [...missing, ...buckets];
}

interface ValueProperties {
  field: string;
  bucket: Bucket;
  most: number;
  included: string[];
  excluded: string[];
}

function FacetValue({ field, bucket, most, included, excluded }: ValueProperties): JSX.Element {
  const { state, go } = usePage();
  const value = String(bucket.value);
  const is = included.includes(value);
  const not = excluded.includes(value);
  const askable = typeof bucket.value_bytes !== "string";
  const change = (how: "include" | "exclude") => (): void => go({ q: toggle(state.q, field, value, how) });
  const label = value === "" ? "(empty)" : value;
  const bar = { width: `${(100 * bucket.count) / most}%` };
  return (
    <li class={not ? "not" : undefined}>
      <label title={visible(value)}>
        <input type="checkbox" checked={is} disabled={!askable} onChange={change("include")} />
        <span class="facet-name">
          <Shown text={label} />
        </span>
        <span class="facet-count">{not ? "excluded" : format.count(bucket.count)}</span>
        <span class="facet-bar" style={bar} />
      </label>
      <button
        type="button"
        class="plain exclude"
        aria-pressed={not}
        disabled={!askable}
        aria-label={`Exclude ${visible(label)}`}
        title="Exclude"
        onClick={change("exclude")}
      >
        <Icon name="not" />
      </button>
    </li>
  );
}
