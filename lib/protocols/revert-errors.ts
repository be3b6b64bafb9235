import type { Abi } from 'viem'
import { erc20Abi } from '../chain/erc20.ts'
import { PROTOCOLS } from './protocols.ts'

/** Every error that a vault or a token is known to revert with, of all protocols: a vault may use another one's contracts. */
export const REVERT_ERRORS: Abi = [...Object.values(PROTOCOLS).flatMap(({ abi }) => abi), ...erc20Abi]
