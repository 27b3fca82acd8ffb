// How every page of the gateway looks: colours for light and dark, type, and what a person uses.
// The build makes it a part of the style of the console, too.

export const LOOK = `:root {
  color-scheme: light dark;
  --paper: light-dark(#faf9f6, #14161a);
  --sheet: light-dark(#ffffff, #1b1e24);
  --raised: light-dark(#f2f0eb, #24282f);
  --ink: light-dark(#1c1f25, #e9e7e2);
  --muted: light-dark(#5b616c, #a2a8b3);
  --edge: light-dark(#e3e0d9, #2d323b);
  --edge-strong: light-dark(#8b8f97, #757c88);
  --accent: light-dark(#9a4a00, #ffb648);
  --accent-ink: light-dark(#ffffff, #1d1403);
  --line: light-dark(#1f5fa8, #8fc1ff);
  --good: light-dark(#1e6e3c, #6fcf97);
  --grave: light-dark(#b3261e, #ff8f86);
  --warn: light-dark(#8a5200, #f5b95f);
  --info: light-dark(#1f5fa8, #8fc1ff);
  --radius: 8px;
  font:
    15px/1.45 system-ui,
    -apple-system,
    'Segoe UI',
    'Noto Sans',
    'Noto Sans CJK SC',
    sans-serif;
  font-variant-numeric: tabular-nums;
}
*,
::before,
::after {
  box-sizing: border-box;
}
body {
  margin: 0;
  background: var(--paper);
  color: var(--ink);
  -webkit-text-size-adjust: 100%;
}
h1 {
  font-size: 1.4rem;
  line-height: 1.25;
  letter-spacing: -0.01em;
  overflow-wrap: anywhere;
}
:focus-visible {
  outline: 2px solid var(--accent);
  outline-offset: 2px;
  border-radius: 4px;
}
input,
select,
textarea,
button,
.button {
  min-height: 2.25rem;
  padding: 0.3rem 0.65rem;
  border: 1px solid var(--edge-strong);
  border-radius: 6px;
  background: var(--sheet);
  color: var(--ink);
  font: inherit;
}
input[type='checkbox'],
input[type='radio'] {
  width: 1.05rem;
  min-height: 1.05rem;
  accent-color: var(--accent);
}
button,
.button,
select {
  cursor: pointer;
}
button:hover:not(:disabled),
.button:hover {
  background: var(--raised);
}
`
