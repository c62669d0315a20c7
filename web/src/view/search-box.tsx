// The box for the query: completion below it, the error under its character, and what may be meant.

import type { JSX, TargetedInputEvent } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import type { Problem } from "../api/client";
import { usePage } from "../state/page";
import { remember } from "../state/stored";
import type { Offer } from "./completion";
import { EARLIER, useOffers } from "./completion";
import { Icon } from "./icon";
import { QueryError } from "./notice";
import { Shown } from "./shown";

/** Milliseconds without a key before a search while typing begins. */
const LIVE_PAUSE = 250;

/** What is in the box, and what happens at keys. */
interface QueryInput {
  draft: string;
  offers: Offer[];
  active: number;
  take: (offer: Offer) => void;
  search: (q: string) => void;
  close: () => void;
  onInput: (event: TargetedInputEvent<HTMLInputElement>) => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

function useQueryInput(input: { current: HTMLInputElement | null }): QueryInput {
  const { state, go, settings } = usePage();
  const [draft, setDraft] = useState(state.q);
  const [caret, setCaret] = useState(state.q.length);
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const placed = useRef<number | null>(null);
  const offers = useOffers(state.index, draft, caret, open);
  // What this box asked for last: when it arrives, more keys may have been pressed, which stay.
  const asked = useRef(state.q);
  useEffect(() => {
    if (state.q !== asked.current) setDraft(state.q);
    asked.current = state.q;
  }, [state.q]);
  useLayoutEffect(() => {
    if (placed.current !== null) input.current?.setSelectionRange(placed.current, placed.current);
    placed.current = null;
  }, [draft]);
  useEffect(() => {
    if (!settings.live || draft === state.q) return undefined;
    const timer = setTimeout(() => {
      asked.current = draft;
      go({ q: draft }, true);
    }, LIVE_PAUSE);
    return () => clearTimeout(timer);
  }, [draft, settings.live]);

  const search = (q: string): void => {
    setOpen(false);
    setDraft(q);
    remember(q);
    asked.current = q;
    go({ q, like: null });
  };
  const take = (offer: Offer): void => {
    if (offer.note === EARLIER) return search(offer.query);
    placed.current = offer.caret;
    setDraft(offer.query);
    setCaret(offer.caret);
    setActive(-1);
  };
  const onInput = ({ currentTarget }: TargetedInputEvent<HTMLInputElement>): void => {
    setDraft(currentTarget.value);
    setCaret(currentTarget.selectionStart ?? currentTarget.value.length);
    setOpen(true);
    setActive(-1);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const offer = offers[active];
    if (step !== 0) {
      event.preventDefault();
      setOpen(true);
      setActive(moved(active, step, offers.length));
    } else if (event.key === "Enter" && offer !== undefined) {
      event.preventDefault();
      take(offer);
    } else if (event.key === "Escape" && offers.length > 0) {
      event.stopPropagation();
      setOpen(false);
    }
  };
  return { draft, offers, active, take, search, close: () => setOpen(false), onInput, onKeyDown };
}

export function SearchBox({ problem }: { problem: Problem | null }): JSX.Element {
  const { state } = usePage();
  const input = useRef<HTMLInputElement>(null);
  const { draft, offers, active, take, search, close, onInput, onKeyDown } = useQueryInput(input);
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    search(draft);
  };
  const clear = (): void => {
    search("");
    input.current?.focus();
  };
  const shown = offers.length > 0;
  return (
    <form class="search" role="search" method="get" action="./" onSubmit={onSubmit}>
      <div class={problem === null ? "box" : "box wrong"}>
        <Icon name="search" />
        <input
          ref={input}
          id="q"
          name="q"
          type="text"
          value={draft}
          placeholder="words, size:>1GiB, owner:anna, mtime:<now-1y …"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          aria-label="Query"
          role="combobox"
          aria-expanded={shown}
          aria-controls="offers"
          aria-autocomplete="list"
          aria-activedescendant={shown && active >= 0 ? `offer-${active}` : undefined}
          aria-invalid={problem !== null}
          aria-describedby={problem === null ? undefined : "query-error"}
          onInput={onInput}
          onKeyDown={onKeyDown}
          onBlur={close}
        />
        {draft !== "" && (
          <button type="button" class="plain" aria-label="Clear the query" onClick={clear}>
            <Icon name="close" />
          </button>
        )}
        <button type="submit" class="main">
          Search
        </button>
      </div>
      <Offers offers={offers} active={active} take={take} />
      {problem !== null && draft === state.q && <QueryError q={draft} problem={problem} id="query-error" />}
    </form>
  );
}

/** The next line of a list of `length`; -1 is the box itself, before the first and after the last line. */
function moved(active: number, step: number, length: number): number {
  return ((active + 1 + step + length + 1) % (length + 1)) - 1;
}

interface OffersProperties {
  offers: Offer[];
  active: number;
  take: (offer: Offer) => void;
}

function Offers({ offers, active, take }: OffersProperties): JSX.Element {
  return (
    <ul class="offers" id="offers" role="listbox" aria-label="Completions" hidden={offers.length === 0}>
      {offers.map((offer, at) => (
        <li
          key={`${at} ${offer.text}`}
          id={`offer-${at}`}
          role="option"
          aria-selected={at === active}
          onPointerDown={(event) => (event.preventDefault(), take(offer))}
        >
          <span class="offer">
            <Shown text={offer.text} />
          </span>
          <span class="note">{offer.note}</span>
        </li>
      ))}
    </ul>
  );
}
