from bfs import *
import sys
def subs():
    d=yield('ls','D'); return tuple(x[1][3:] for x in d if x[1].startswith('new'))
def fin(m,persist,byuuid):
    # under topic lock: finish message m if it is in out/
    o=yield('ls','out'); o=tuple(x for x in o if x[1]==m)
    if not o: return 'gone'
    x=o[0]; sq=x[2]; o=None
    if sq is None:
        q=yield('ls','seq'); sq=q[0][1]; q=None
        yield('set',frozenset([('seq',sq)]),frozenset([('seq',sq+1)]))
        if persist:
            yield('ren',x,('out',m,sq)); x=('out',m,sq)
    ss=yield from subs()
    for S in ss:
        r=yield('link',x,('new'+S,m,sq,'f'))
    ss=S=None
    yield('unl',x)
    return 'ok'
def P(m,persist,fa=False):
    yield('ren',('tmp',m),('out',m,None),frozenset([('pub',m)]))
    yield('lock','t')
    if fa: yield from finall(persist)
    yield from fin(m,persist,0)
    yield('unlock','t')
    yield('ghost',frozenset([('conf',m)]))
def finall(persist):
    o=yield('ls','out')
    for x in o: yield from fin(x[1],persist,0)
def F(rounds,persist):
    k=0
    while k<rounds:
        k+=1
        o=yield('ls','out')
        if not o: continue
        x=yield('choose',o); o=None
        yield('lock','t'); yield from fin(x[1],persist,0); yield('unlock','t')
        x=None
def CN(S,rounds,check,acts):
    k=0
    while k<rounds:
        k+=1
        s=yield('ls','new'+S)
        if not s: continue
        x=yield('choose',s); s=None
        if x[3]=='f' and check:
            o=yield('stat',('out',x[1],x[2]))
            if o:
                if check=='skip': continue
                yield('lock','t'); yield from fin(x[1],True,0); yield('unlock','t')
        c=('cur'+S,x[1],x[2],1 if x[3]=='f' else x[3]+1)
        r=yield('ren',x,c)
        if r!='ok': continue
        a=yield('choose',acts)
        if a=='ack': yield('unl',c,frozenset([('ack',S,x[1],x[2])]))
        if a=='ret': yield('ren',c,('new'+S,)+c[1:])
        a=c=x=r=o=None
def ADD(S,fa,persist):
    yield('lock','t')
    if fa: yield from finall(persist)
    yield('mkdir','new'+S)
    yield('unlock','t')
def RMS(S,fa,persist):
    yield('lock','t')
    if fa: yield from finall(persist)
    yield('rmtree',('new'+S,'cur'+S))
    yield('unlock','t')
def FIN(persist):
    yield('final',)
    yield('lock','t'); yield from finall(persist)
    yield('ghost',frozenset([('end',)]))
def mkinv(stable):
    def inv(fs,gh):
        pub={x[1] for x in gh if x[0]=='pub'}; conf={x[1] for x in gh if x[0]=='conf'}
        if ('end',) in gh: conf=pub
        for m in pub:
            for S in ('1','2','3'):
                n=sum(1 for x in fs if x[0] in('new'+S,'cur'+S) and x[1]==m)+sum(1 for x in gh if x[0]=='ack' and x[1]==S and x[2]==m)
                if n>1: return 'twice: %s in sub %s'%(m,S)
                if n==0 and m in conf and S in stable: return 'lost: %s in sub %s'%(m,S)
    return inv
def go(name,ms,ss,stable,procs,cr,persist,**k):
    fs=frozenset([('seq',0)]+[('tmp',m) for m in ms]+[('D','new'+s) for s in ss])
    return run(procs+[(FIN,persist)],fs,cr,inv=mkinv(stable),name=name,mdirs=('new1','new2','new3'),**k)
if __name__=='__main__':
    A=('ack','ret','stall')
    go('3a SEQ not persisted before links',['a'],['1','2'],'12',[(P,'a',False),(F,1,False)],1,False)
    go('3b take f without looking at out/',['a'],['1','2'],'12',[(P,'a',True),(F,1,True),(CN,'1',1,None,A)],1,True)
    go('3c persisted, skip, 2 pubs, C1x2,C2,F2 crash1',['a','b'],['1','2'],'12',[(P,'a',True),(P,'b',True),(F,2,True),(CN,'1',2,'skip',A),(CN,'2',1,'skip',A)],1,True,limit=8e5)
    go('3d persisted, help, add 3, rm 2, crash2',['a','b'],['1','2'],'1',[(P,'a',True),(F,1,True),(CN,'1',2,'help',A),(ADD,'3',0,True),(RMS,'2',0,True),(ADD,'2',0,True)],2,True,limit=8e5)
