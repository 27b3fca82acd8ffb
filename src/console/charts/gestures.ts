// Moving and zooming a chart by mouse, touch and keyboard, and the place that is pointed at.

/** Places are parts of the drawn span: 0 is its beginning and 1 its end. */
export interface Gestures {
  readonly placeAt: (clientX: number) => number
  readonly point: (place: number | undefined) => void
  /** Moves what is pointed at by a part of the span. */
  readonly step: (part: number) => void
  readonly pan: (part: number) => void
  readonly zoom: (factor: number, at: number) => void
}

const WHEEL_ZOOM = 0.01
const KEY_STEP = 0.02
const KEY_PAN = 0.25
/** Far enough to the end of everything. */
const TO_THE_END = 1e6

/** Follows what a person does on an element until the function that it gives is called. */
export function followGestures(element: HTMLElement, gestures: Gestures): () => void {
  const { placeAt, point, pan, zoom } = gestures
  const held = new Map<number, number>()
  const onDown = (event: PointerEvent): void => {
    if (event.pointerType === 'mouse' && event.button !== 0) return
    held.set(event.pointerId, placeAt(event.clientX))
    if (event.pointerType === 'mouse') element.setPointerCapture(event.pointerId)
    point(placeAt(event.clientX))
  }
  const onMove = (event: PointerEvent): void => {
    const place = placeAt(event.clientX)
    const before = held.get(event.pointerId)
    if (before === undefined) return point(place)
    held.set(event.pointerId, place)
    const [other] = [...held].filter(([id]) => id !== event.pointerId).map(([, at]) => at)
    if (other === undefined) {
      pan(before - place)
      held.set(event.pointerId, place)
    } else if (Math.abs(place - other) > KEY_STEP) {
      zoom(Math.abs(before - other) / Math.abs(place - other), (place + other) / 2)
    }
  }
  const onUp = (event: PointerEvent): void => void held.delete(event.pointerId)
  const onLeave = (event: PointerEvent): void => {
    onUp(event)
    if (event.pointerType === 'mouse') point(undefined)
  }
  const onWheel = (event: WheelEvent): void => {
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY)
    if (!event.ctrlKey && !isSideways) return
    event.preventDefault()
    if (event.ctrlKey) zoom(Math.exp(event.deltaY * WHEEL_ZOOM), placeAt(event.clientX))
    else pan(event.deltaX / Math.max(1, element.clientWidth))
  }
  const onDouble = (event: MouseEvent): void => zoom(0.5, placeAt(event.clientX))
  const ended = new AbortController()
  const { signal } = ended
  element.addEventListener('pointerdown', onDown, { signal })
  element.addEventListener('pointermove', onMove, { signal })
  element.addEventListener('pointerup', onUp, { signal })
  element.addEventListener('pointercancel', onUp, { signal })
  element.addEventListener('pointerleave', onLeave, { signal })
  element.addEventListener('wheel', onWheel, { signal, passive: false })
  element.addEventListener('dblclick', onDouble, { signal })
  element.addEventListener('keydown', (event) => onKey(event, gestures), { signal })
  return () => ended.abort()
}

function onKey(event: KeyboardEvent, { point, step, pan, zoom }: Gestures): void {
  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => (event.shiftKey ? pan(-KEY_PAN) : step(-KEY_STEP)),
    ArrowRight: () => (event.shiftKey ? pan(KEY_PAN) : step(KEY_STEP)),
    '+': () => zoom(0.5, 0.5),
    '=': () => zoom(0.5, 0.5),
    '-': () => zoom(2, 0.5),
    End: () => pan(TO_THE_END),
    Escape: () => point(undefined),
  }
  const act = event.ctrlKey || event.altKey || event.metaKey ? undefined : keys[event.key]
  if (act === undefined) return
  event.preventDefault()
  act()
}
