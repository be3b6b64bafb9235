/** Icon of a token, drawn for this wallet: its well-known colour, and an SVG path in a square of 36 units. */
type TokenMark = { readonly color: string; readonly ink: string; readonly path: string }

const LIGHT = '#ffffff'
const DARK = '#14191a'

const DOLLAR =
  'M23 14c-.8-2-2.6-3-5-3-2.8 0-4.8 1.3-4.8 3.5 0 5 9.8 2.3 9.8 7.3 0 2.3-2 3.6-5 3.6-2.5 0-4.4-1-5.2-3.1M18 8v20'
const T = 'M11 11h14M18 11v16M13 16.5h10'
const D = 'M13.5 11v14h3.5a7 7 0 0 0 0-14z'
const DIAMOND = 'M18 8l7 10-7 10-7-10zM11 18l7 3.5 7-3.5'
const DROP = 'M18 8c4 5 6.5 8.5 6.5 12a6.5 6.5 0 0 1-13 0c0-3.5 2.5-7 6.5-12z'
const B = 'M13 11v14h6.5a3.5 3.5 0 0 0 0-7H13h5.5a3.5 3.5 0 0 0 0-7zM17 8v3M17 25v3'
const S =
  'M23.5 14c-.9-2.2-2.8-3.2-5.5-3.2-3 0-5.3 1.4-5.3 3.7 0 5.2 10.8 2 10.8 7.2 0 2.4-2.3 3.7-5.5 3.7-2.8 0-4.7-1.1-5.6-3.3'
const A = 'M12 26l6-16 6 16M14.3 20.5h7.4'
const O = 'M18 11a7 7 0 1 0 0 14 7 7 0 0 0 0-14z'
const P = 'M14 26V11h5a4.5 4.5 0 0 1 0 9h-5'
const X = 'M12.5 12l11 12M23.5 12l-11 12'
const G = 'M24 14a7 7 0 1 0 1 5h-6'
const J = 'M21 10v11a4.5 4.5 0 0 1-9 0'
const SQUARE = 'M18 9l9 9-9 9-9-9z'

const MARKS: Readonly<Record<string, readonly [color: string, path: string, ink?: string]>> = {
  USDC: ['#2775ca', DOLLAR],
  'USDC.E': ['#2775ca', DOLLAR],
  USDT: ['#1f8f6d', T],
  DAI: ['#f5ac37', D, DARK],
  ETH: ['#627eea', DIAMOND],
  WETH: ['#627eea', DIAMOND],
  WSTETH: ['#0086d4', DROP],
  BTC: ['#f7931a', B, DARK],
  WBTC: ['#f7931a', B, DARK],
  BTCB: ['#f7931a', B, DARK],
  CBBTC: ['#0052ff', B],
  BNB: ['#f3ba2f', SQUARE, DARK],
  WBNB: ['#f3ba2f', SQUARE, DARK],
  POL: ['#8247e5', P],
  WPOL: ['#8247e5', P],
  XDAI: ['#3a8b88', X],
  WXDAI: ['#3a8b88', X],
  GNO: ['#3e6957', G],
  OP: ['#e0031c', O],
  ARB: ['#1b7fc4', A],
  SOL: ['#8a3ffc', S],
  WSOL: ['#8a3ffc', S],
  MSOL: ['#2f7a63', S],
  JITOSOL: ['#3f7d3a', S],
  JUP: ['#1f6f5c', J],
  BONK: ['#d9730d', B],
}

/** Returns a known token's icon by its symbol; undefined for other tokens. */
export function findTokenIcon(symbol: string): TokenMark | undefined {
  const [color, path, ink = LIGHT] = MARKS[symbol.toUpperCase()] ?? []
  return color && path ? { color, path, ink } : undefined
}
