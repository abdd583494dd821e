/** Text of others on a terminal. */

/** Names come from clients and servers: none may steer the terminal or fill it. */
export const printable = (text: string): string => text.replace(/[^\x20-\x7e\u00a0-\uffff]/g, '?').slice(0, 60)
