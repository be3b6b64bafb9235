type Words = { readonly symbol: string; readonly name: string }

const TOP_LEVEL_DOMAINS =
  'app|art|biz|br|bet|cash|cc|city|claims?|click|club|co|com|cx|dev|digital|events?|fi|finance|fun|fund|gg|gift|gifts|global|gr|id|info|io|life|link|live|lol|ltd|ly|me|money|net|network|news|one|online|org|page|pro|promo|ru|run|sh|shop|site|space|store|tech|to|today|top|tokyo|uk|us|vip|web|website|win|work|works|world|ws|xyz|zone'
/** Pattern of a link to a web site in a token's name. */
const SITE = new RegExp(String.raw`:\/\/|\bwww\.|\bt\.me\b|[\p{L}\d-](\.|\s+\.\s*)(${TOP_LEVEL_DOMAINS})\b`, 'iu')
/** Pattern of words that promise something to claim or win, as scams do. */
const LURE = /\b(claim|airdrop|visit|reward|bonus|giveaway|voucher|winner|eligible)/i

/** Pattern of alphabets with letters that look like Latin letters. */
const OTHER_LETTERS = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u
/**
 * Pattern of characters that disguise a text. These are mathematical and full-width letters, zero-width characters, and
 * marks that change the text's direction.
 */
const DISGUISED =
  /[\u{1D400}-\u{1D7FF}\uFF21-\uFF5A\u00AD\u180E\u200B\u200C\u200E\u200F\u202A-\u202E\u2060-\u2064\uFEFF]/u

/** Letters and signs of other alphabets, by the Latin letter that they look like (https://www.unicode.org/reports/tr39). */
const LOOK_ALIKES = {
  a: 'аα',
  b: 'вβь₿',
  c: 'сϲ',
  d: 'ԁ',
  e: 'еεєξ',
  g: 'ɡ',
  h: 'нηһ',
  i: 'іιı',
  j: 'ј',
  k: 'кκ',
  l: 'ӏ',
  m: 'мμ',
  n: 'ν',
  o: 'оοօ',
  p: 'рρ',
  q: 'ԛ',
  s: 'ѕ',
  t: 'тτ₮',
  u: 'цυս',
  v: 'ѵ',
  w: 'ԝω',
  x: 'хχ',
  y: 'уγ',
  z: 'ζ',
}
const LATIN = new Map(Object.entries(LOOK_ALIKES).flatMap(([latin, others]) => [...others].map((one) => [one, latin])))

/** Spam filters by their list of supported tokens. Building a filter is expensive, so requests with the same list share it. */
const filters = new WeakMap<readonly Words[], (token: Words) => boolean>()

/**
 * Returns a function that decides if an unlisted token looks like spam. Such a token has a link or a promise in its
 * name or symbol. It may also imitate a listed token, or contain look-alike or invisible letters. The function is
 * cached per list object, so a list must never be changed.
 */
export function spamFilter(listed: readonly Words[]): (token: Words) => boolean {
  const filter = filters.get(listed) ?? createFilter(listed)
  filters.set(listed, filter)
  return filter
}

function createFilter(listed: readonly Words[]): (token: Words) => boolean {
  const imitated = new Set(listed.flatMap(({ symbol, name }) => [skeleton(symbol), skeleton(name)]))
  imitated.delete('')
  const isSpamText = (text: string) =>
    [SITE, LURE, DISGUISED].some((pattern) => pattern.test(text)) ||
    imitated.has(skeleton(text)) ||
    (OTHER_LETTERS.test(text) && /[a-z]/i.test(text))
  return ({ symbol, name }) => isSpamText(symbol) || isSpamText(name)
}

/** Returns a function that decides by the symbol if a token looks like spam. A token in the list never counts as spam. */
export function createSpamRule(
  listed: readonly (Words & { readonly address: string })[],
): (token: string, symbol: string) => boolean {
  const addresses = new Set(listed.map(({ address }) => address))
  const looksLikeSpam = spamFilter(listed)
  return (token, symbol) => !addresses.has(token) && looksLikeSpam({ symbol, name: symbol })
}

/**
 * Returns true if the name or symbol of an NFT collection or unlisted token looks like spam. It compares with no list
 * of tokens, so imitations are not detected.
 */
export const isSpam = spamFilter([])

/**
 * Returns a text reduced to lower-case letters and digits, with look-alike letters replaced by Latin ones. An imitation
 * then has the same result as the original.
 */
function skeleton(text: string): string {
  const letters = [...text.normalize('NFKD').toLowerCase()].map((letter) => LATIN.get(letter) ?? letter)
  return letters.join('').replaceAll(/[^\p{L}\d]/gu, '')
}
