// Goal: an expression means what the library says that it means.
// Method: random expressions over random values, evaluated here and by the library.

import test from 'ava'
import * as fc from 'fast-check'

import {
  attrsOf,
  byLibrary,
  evaluated,
  expressionOf,
  expressions,
  smallAttrs,
} from '#test/support/cel'

const ATTRS = attrsOf({
  n: 1.5,
  s: 'ab',
  l: [1, 'a', null, [2]],
  k: ['b', 'é𝄞'],
  o: { k: null, on: true, deep: { x: 1 } },
  gone: null,
})

// Each holds.
const ROWS = [
  'attrs.n == 1.5 && 1.5 == attrs.n && attrs.n != 2',
  'attrs.l[0] == 1 && 1 in attrs.l && !(3 in attrs.l)',
  'attrs.l[3] == [2] && attrs.l == attrs.l && attrs.l != attrs.k',
  'attrs.o.deep == {"x": 1} && attrs.o != attrs.o.deep && attrs.o == attrs["o"]',
  '"on" in attrs.o && "gone" in attrs == false && size(attrs) == 5',
  'has(attrs.o.k) && attrs.o.k == null && !has(attrs.gone) && !has(attrs.o.deep.y)',
  'size(attrs.k[1]) == 2 && attrs.k.size() == 2 && size(attrs.o) == 3',
  'attrs.s + "c" == "abc" && attrs.s < "b" && "a" <= attrs.s',
  'attrs.s.contains("b") && attrs.s.startsWith("a") && attrs.s.endsWith("b")',
  '"xabxabaabay".contains("abaa") && !"aaaab".contains("aaaaab") && "".contains("")',
  'attrs.s.upperAscii() == "AB" && "AB".lowerAscii() == attrs.s && " a ".trim() == "a"',
  'int("12") == 12 && int(1.9) == 1 && double("1e3") == 1000.0 && string(1.5) == "1.5"',
  'bool("true") && !bool("f") && string(true) == "true" && double("-inf") < 0.0',
  '7 / 2 == 3 && -7 % 4 == -3 && 7.0 / 2 == 3.5 && dyn(1) + 1.5 == 2.5',
  'attrs.l.exists(x, x == "a") && attrs.l.exists_one(x, x == 1) && attrs.k.all(x, size(x) > 0)',
  'attrs.l.filter(x, x == null).size() == 1 && attrs.k.map(x, x + "!")[0] == "b!"',
  'attrs.k.map(x, x == "b", size(x)) == [1] && attrs.o.exists(name, name == "on")',
  'attrs.o.deep.x > 0 ? true : attrs.nothing',
  'attrs.nothing > 1 || attrs.n > 1',
  'attrs.l.exists(x, x + 1.0 > 1.5)',
  '[1, 2].exists(attrs, attrs == 2) && 1u + 2u == 3u',
  'attrs["s"] == thing.id + "b" && {"a": 1}["a"] == 1 && [true][0]',
]

// Each fails.
const FAILING = [
  'attrs.nothing > 1 && attrs.n > 1',
  'attrs.s > 1',
  'attrs.s + 1 == "ab1"',
  'attrs.l[4] == 1',
  'attrs.l.all(x, x + 1 > 0)',
  'attrs.n.exists(x, true)',
  'attrs.n ? true : false',
  '!attrs.n',
  '-attrs.s == 1',
  'int("1 ") == 1',
  'double("a") == 1.0',
  'bool("yes")',
  '1 / 0 == 1',
  '9223372036854775807 + 1 > 0',
  'has(attrs.nothing.x)',
  'attrs.n in attrs.s',
  'size(attrs.n) == 1',
  'attrs.l.map(x, x.y) == []',
  'attrs.s',
]

test('evaluation/2, values/1: an expression gives what CEL says, here and in the library', (t) => {
  for (const text of ROWS) {
    t.is(evaluated(text, ATTRS).verdict, true, text)
    t.is(byLibrary(text, ATTRS), true, text)
  }
  for (const text of FAILING) {
    t.is(typeof evaluated(text, ATTRS).verdict, 'string', text)
    t.not(typeof byLibrary(text, ATTRS), 'boolean', text)
  }
})

// Where the library differs from the language. Each holds, or fails.
const BY_LANGUAGE = [
  '"ÄB".lowerAscii() == "Äb" && "äb".upperAscii() == "äB" && "ß".upperAscii() == "ß"',
  'int(9.2e18) > 0 && -(-9223372036854775807) > 0',
]
const FAILING_BY_LANGUAGE = [
  'int(attrs.n * 1e300) > 0',
  'int(-9.3e18) < 0',
  '-(-9223372036854775808) > 0',
]

test('a function for ASCII leaves other letters, and a whole number has 64 bits', (t) => {
  for (const text of BY_LANGUAGE) t.is(evaluated(text, ATTRS).verdict, true, text)
  for (const text of FAILING_BY_LANGUAGE)
    t.is(typeof evaluated(text, ATTRS).verdict, 'string', text)
})

test('expression/2, evaluation/2: random expressions give what they give in the library', (t) => {
  let compared = 0
  fc.assert(
    fc.property(expressions, smallAttrs, (text, attrs) => {
      if (expressionOf(text) === undefined) return
      const { verdict } = evaluated(text, attrs)
      const wanted = byLibrary(text, attrs)
      t.is(
        typeof verdict === 'boolean' ? verdict : undefined,
        typeof wanted === 'boolean' ? wanted : undefined,
        `${text} on ${JSON.stringify(attrs)}: ${verdict}`,
      )
      if (typeof verdict === 'boolean') compared += 1
    }),
    { numRuns: 2_000 },
  )
  t.true(compared > 100, String(compared))
})
