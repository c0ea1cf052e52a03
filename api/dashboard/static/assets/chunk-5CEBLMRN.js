var n={main:"main-3L2VPMM4.css",ask:"ask-XOD2MPAP.css"};var P={hash:"hash-ADVJ2URF.js",send:"send-4NNVC7MS.js"};export{n as a,P as b};
