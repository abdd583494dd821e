/** The product's name and version, for the commands. */
export { PRODUCT, productVersion } from '../config/product.ts'
