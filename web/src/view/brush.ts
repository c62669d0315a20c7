// Choosing a stretch of bars: by dragging over them, or by two handles with the keyboard.

import { useEffect, useRef, useState } from "preact/hooks";

/** The first and the last chosen bar. */
export type Stretch = [number, number];

/** Milliseconds after the last key before a change counts. */
const PAUSE = 400;

export interface Brush {
  /** What is shown: while it is changed, the new stretch. */
  shown: Stretch | null;
  pointer: {
    onPointerDown: (event: PointerEvent) => void;
    onPointerMove: (event: PointerEvent) => void;
    onPointerUp: () => void;
    onPointerCancel: () => void;
  };
  /** Keys at the handle of the beginning (0) or of the end (1). */
  onKey: (handle: 0 | 1, event: KeyboardEvent) => void;
}

function barAt(event: PointerEvent, bars: number): number {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  const share = (event.clientX - box.left) / Math.max(1, box.width);
  return Math.min(bars - 1, Math.max(0, Math.floor(share * bars)));
}

const ordered = ([one, other]: Stretch): Stretch => [Math.min(one, other), Math.max(one, other)];

export function useBrush(
  bars: number,
  selected: Stretch | null,
  choose: (stretch: Stretch | null) => void,
): Brush {
  const [draft, setDraft] = useState<Stretch | null>(null);
  const dragging = useRef(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setDraft(null), [selected?.[0], selected?.[1], bars]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const shown = draft === null ? selected : ordered(draft);

  const onKey = (handle: 0 | 1, event: KeyboardEvent): void => {
    const now = shown ?? [0, bars - 1];
    const steps: Record<string, number> = {
      ArrowLeft: -1,
      ArrowDown: -1,
      ArrowRight: 1,
      ArrowUp: 1,
      PageDown: -6,
      PageUp: 6,
      Home: -bars,
      End: bars,
    };
    const step = steps[event.key];
    if (event.key === "Escape" && shown !== null) {
      event.stopPropagation();
      clearTimeout(timer.current);
      setDraft(null);
      choose(null);
    }
    if (event.key === "Enter" && draft !== null) {
      clearTimeout(timer.current);
      choose(ordered(draft));
    }
    if (step === undefined) return;
    event.preventDefault();
    const next: Stretch = [now[0], now[1]];
    const [least, most] = handle === 0 ? [0, now[1]] : [now[0], bars - 1];
    next[handle] = Math.min(most, Math.max(least, now[handle] + step));
    setDraft(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => choose(next), PAUSE);
  };

  const pointer = {
    onPointerDown: (event: PointerEvent): void => {
      if (event.button !== 0) return;
      dragging.current = true;
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
      const bar = barAt(event, bars);
      setDraft([bar, bar]);
    },
    onPointerMove: (event: PointerEvent): void => {
      if (dragging.current && draft !== null) setDraft([draft[0], barAt(event, bars)]);
    },
    onPointerUp: (): void => {
      if (!dragging.current) return;
      dragging.current = false;
      if (draft !== null) choose(ordered(draft));
    },
    onPointerCancel: (): void => {
      dragging.current = false;
      setDraft(null);
    },
  };
  return { shown, pointer, onKey };
}
