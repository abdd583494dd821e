/** `*` any run of characters, `?` one; everything else stands for itself. Linear in time, whatever the pattern. */

export function createGlob(pattern: string): (text: string) => boolean {
  if (!/[*?]/.test(pattern)) return (text) => text === pattern
  return (text) => matches(pattern, text)
}

function matches(pattern: string, text: string): boolean {
  let p = 0
  let t = 0
  let starAt = -1 // the last star …
  let retryAt = 0 // … and where the text goes on if it takes one character more
  while (t < text.length) {
    if (pattern[p] === '*') {
      starAt = p
      retryAt = t
      p += 1
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p += 1
      t += 1
    } else if (starAt !== -1) {
      p = starAt + 1
      retryAt += 1
      t = retryAt
    } else return false
  }
  while (pattern[p] === '*') p += 1
  return p === pattern.length
}
