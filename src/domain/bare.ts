// Records whose keys callers choose.

// A class whose prototype is an empty object without one: its instances inherit nothing, and unlike
// those of Object.create(null) they keep the engine's fast shape, which halves the cost of writing
// them as JSON.
const Bare: new () => object = Object.assign(class {}, {})
Object.setPrototypeOf(Bare.prototype, null)
Reflect.deleteProperty(Bare.prototype, 'constructor')
Object.freeze(Bare.prototype)

/**
 * An object that inherits nothing: `__proto__` and its kin are plain data in it. (decisions.md 3)
 */
export function bare<Value>(): Record<string, Value> {
  return new Bare() as Record<string, Value>
}
